import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { TENANT_PAGES } from '../tenant/pages.js';

export type Overlay = 'palette' | 'help' | undefined;

const SECOND_KEY_MS = 1_200;

/** Keys that work on every page, but not where somebody is typing. */
export function useShortcuts(open: (overlay: Overlay) => void): void {
  const navigate = useNavigate();
  const { tenantId } = useParams({ strict: false });
  useEffect(() => {
    let wentAt = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey) && !isDialogOpen()) {
        event.preventDefault();
        open('palette');
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event) || isDialogOpen()) return;
      const isSecond = event.timeStamp - wentAt < SECOND_KEY_MS;
      wentAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (event.key === '?') open('help');
      const page = isSecond && TENANT_PAGES.flatMap(({ pages }) => pages).find(({ key }) => key === event.key);
      if (page && tenantId !== undefined) void navigate({ to: page.to, params: { tenantId } });
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate, open, tenantId]);
}

/** What has to be done first is done first. */
function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"]') !== null;
}

/** The first of the path, because an editor stands in a tree of its own. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

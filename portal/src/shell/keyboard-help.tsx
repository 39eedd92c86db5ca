import { useParams } from '@tanstack/react-router';
import { TENANT_PAGES } from '../tenant/pages.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';

const EVERYWHERE: readonly (readonly [string, readonly string[]])[] = [
  ['Search, or open what an id belongs to', ['⌘ or Ctrl', 'K']],
  ['This list', ['?']],
  ['Close what is open', ['Esc']],
];

/** The keys that work on every page. */
export function KeyboardHelp({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const { tenantId } = useParams({ strict: false });
  const pages = TENANT_PAGES.flatMap((group) => group.pages);
  const lines = [
    ...EVERYWHERE,
    ...(tenantId === undefined ? [] : pages.map(({ text, key }) => [text, ['g', key]] as const)),
  ];
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Keyboard">
      <dl className="divide-y divide-line text-sm">
        {lines.map(([text, keys]) => (
          <div key={text} className="flex items-center justify-between gap-4 py-2">
            <dt>{text}</dt>
            <dd className="flex gap-1">
              {keys.map((key) => (
                <kbd key={key} className="rounded border border-line-strong bg-sunken px-1.5 py-0.5 font-sans text-xs">
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <div className="flex justify-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

export interface DialogProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly lead?: ReactNode;
  /** Left out where it must not close by accident: then only its buttons close it. */
  readonly onClose?: () => void;
  readonly children: ReactNode;
}

/** Something to be done before anything else. */
export function Dialog({ isOpen, title, lead, onClose, children }: DialogProps) {
  return (
    <BaseDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose?.()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-30 bg-black/50" />
        <BaseDialog.Popup className="fixed top-1/2 left-1/2 z-40 max-h-[90dvh] w-[min(30rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-2xl border border-line bg-card p-6 shadow-xl">
          <BaseDialog.Title className="text-lg font-semibold tracking-tight">{title}</BaseDialog.Title>
          {lead && <BaseDialog.Description className="mt-1 text-sm text-muted">{lead}</BaseDialog.Description>}
          <div className="mt-5 space-y-4">{children}</div>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';

export interface DrawerProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Details beside the page they belong to. */
export function Drawer({ isOpen, title, onClose, children }: DrawerProps) {
  return (
    <BaseDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-30 bg-black/40" />
        <BaseDialog.Popup className="fixed inset-y-0 right-0 z-40 flex w-[min(36rem,100vw)] flex-col border-l border-line bg-card shadow-xl">
          <header className="flex items-center justify-between gap-3 border-b border-line px-5 py-4">
            <BaseDialog.Title className="min-w-0 truncate text-lg font-semibold tracking-tight">
              {title}
            </BaseDialog.Title>
            <BaseDialog.Close
              aria-label="Close"
              className="inline-flex size-9 shrink-0 items-center justify-center rounded-lg text-muted hover:bg-sunken hover:text-ink"
            >
              <X aria-hidden className="size-4" />
            </BaseDialog.Close>
          </header>
          <div className="flex-1 space-y-5 overflow-y-auto p-5">{children}</div>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

import { Dialog } from '@base-ui/react/dialog';
import { Menu as MenuIcon } from 'lucide-react';
import { useState } from 'react';
import { TenantNavigation } from '../tenant/navigation.js';

/** The navigation of a tenant where there is no room beside the page. */
export function NarrowNavigation() {
  const [isOpen, setOpen] = useState(false);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Trigger
        aria-label="Pages of the tenant"
        className="inline-flex size-9 items-center justify-center rounded-lg text-muted hover:bg-sunken hover:text-ink lg:hidden"
      >
        <MenuIcon aria-hidden className="size-5" />
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-30 bg-black/40" />
        <Dialog.Popup className="fixed inset-y-0 left-0 z-40 w-72 border-r border-line bg-card shadow-xl">
          <Dialog.Title className="sr-only">Pages of the tenant</Dialog.Title>
          <TenantNavigation onGone={() => setOpen(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

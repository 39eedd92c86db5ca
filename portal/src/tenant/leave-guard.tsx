import { useBlocker } from '@tanstack/react-router';
import { ConfirmDialog } from '../ui/confirm-dialog.js';

/** Asks before somebody leaves a page with changes that are not saved. */
export function LeaveGuard({ isChanged }: { readonly isChanged: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: isChanged,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      isOpen={status === 'blocked'}
      title="Leave without saving?"
      lead="What you changed here is not stored yet."
      act="Leave without saving"
      isBusy={false}
      error={undefined}
      onConfirm={() => proceed?.()}
      onClose={() => reset?.()}
    />
  );
}

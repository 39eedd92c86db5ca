import type { ReactNode } from 'react';
import { Callout } from '../../ui/callout.js';
import { SecretDialog } from '../../ui/secret-dialog.js';

export interface KeyDialogProps {
  /** Undefined: there is none to show. */
  readonly secret: string | undefined;
  readonly title: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** A new key, this one time. */
export function KeyDialog({ secret, title, onClose, children }: KeyDialogProps) {
  return (
    <SecretDialog
      secret={secret}
      title={title}
      lead="Store it now, in a secret store or the settings of your program. It is not shown again, to anybody."
      onClose={onClose}
    >
      <Callout tone="warn">Who has this key can do what the Application may do. If it is lost, rotate it.</Callout>
      {children}
    </SecretDialog>
  );
}

import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRef } from 'react';
import { Button } from './button.js';
import { CodeLine } from './code-line.js';
import { Dialog } from './dialog.js';

export interface SecretDialogProps {
  /** Undefined: there is nothing to show. */
  readonly secret: string | undefined;
  readonly title: string;
  readonly lead: ReactNode;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** A secret that is shown this one time. Nothing leads away from it but its own button: no key, no click beside it, no way back. */
export function SecretDialog({ secret, title, lead, onClose, children }: SecretDialogProps) {
  const isStored = useRef(false);
  useBlocker({
    shouldBlockFn: () => !isStored.current,
    enableBeforeUnload: () => !isStored.current,
    disabled: secret === undefined,
  });
  return (
    <Dialog isOpen={secret !== undefined} title={title} lead={lead}>
      <CodeLine text={secret ?? ''} label="Copy" />
      {children}
      <div className="flex justify-end">
        <Button
          look="primary"
          onClick={() => {
            isStored.current = true;
            onClose();
            // The next secret of this dialog has not been stored.
            setTimeout(() => {
              isStored.current = false;
            });
          }}
        >
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}

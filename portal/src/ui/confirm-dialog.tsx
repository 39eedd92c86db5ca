import type { ReactNode } from 'react';
import { useState } from 'react';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import { Field } from './field.js';
import { FormFault } from './form.js';

export interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly lead: ReactNode;
  /** What the button says: the act, not "OK". */
  readonly act: string;
  /** Has to be typed first, where much is lost. */
  readonly typed?: string;
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** Asks before something is taken away. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { isOpen, title, lead, act, typed, isBusy, error, onConfirm, onClose, children } = props;
  const [text, setText] = useState('');
  const close = () => {
    setText('');
    onClose();
  };
  return (
    <Dialog isOpen={isOpen} onClose={close} title={title} lead={lead}>
      {children}
      {typed !== undefined && (
        <Field
          label={`Type ${typed} to go on`}
          value={text}
          onChange={(event) => setText(event.target.value)}
          autoComplete="off"
        />
      )}
      <FormFault error={error} />
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={close}>
          Cancel
        </Button>
        <Button
          look="danger"
          isBusy={isBusy}
          disabled={typed !== undefined && text.trim() !== typed.trim()}
          onClick={onConfirm}
        >
          {act}
        </Button>
      </div>
    </Dialog>
  );
}

import { useMutation } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { hasPasskeys, makePasskey } from '../session/passkey.js';
import { PasskeyNote } from '../session/passkey-note.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { FormFault, faultOfField } from '../ui/form.js';

export interface ChosenPasskey {
  readonly name: string;
  readonly answer: unknown;
}

/** A new password, with the rules it has to follow. */
export function NewPasswordField({ error, field = 'password' }: { readonly error: unknown; readonly field?: string }) {
  return (
    <Field
      label={field === 'password' ? 'Password' : 'New password'}
      name={field}
      type="password"
      autoComplete="new-password"
      required
      hint="At least 12 characters, and none of the common ones."
      error={faultOfField(error, field)}
    />
  );
}

/** A passkey in place of a password, where the browser and the address can have one. */
export function PasskeyChoice({
  isUsable,
  options,
  onMade,
}: {
  readonly isUsable: boolean;
  readonly options: () => Promise<unknown>;
  readonly onMade: (passkey: ChosenPasskey) => void;
}) {
  const make = useMutation({
    mutationFn: async () => makePasskey(await options()),
    onSuccess: (answer) => answer !== undefined && onMade({ name: deviceName(), answer }),
  });
  if (!isUsable || !hasPasskeys()) return <PasskeyNote />;
  return (
    <>
      <Button isWide isBusy={make.isPending} onClick={() => make.mutate()}>
        <KeyRound aria-hidden className="size-4" />
        Use a passkey instead
      </Button>
      <FormFault error={make.error} fields={['email']} />
    </>
  );
}

/** How the list of passkeys shows it; the user may know it by that. */
export function deviceName(): string {
  const system = /Windows|Macintosh|iPhone|iPad|Android|Linux/.exec(navigator.userAgent)?.[0] ?? 'Browser';
  return `${system === 'Macintosh' ? 'Mac' : system}, ${new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }).format()}`;
}

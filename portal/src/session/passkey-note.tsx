import { useQuery } from '@tanstack/react-query';
import { isAddressOfNumbers } from './passkey.js';
import { SIGN_IN_OPTIONS } from './sign-in-options.js';

/** Why there are no passkeys here, and where there would be. */
export function PasskeyNote() {
  const { data: options } = useQuery(SIGN_IN_OPTIONS);
  if (options === undefined || (options.passkeys && !isAddressOfNumbers())) return null;
  return (
    <p className="text-[13px] text-muted">
      Passkeys need an address with a name. Open the Portal at <code className="font-mono">localhost</code> or by its
      name, not by an address of numbers, to use them.
    </p>
  );
}

import { useTitle } from '../../ui/entry-page.js';
import { AuthenticatorCard } from './authenticator.js';
import { EmailCard } from './email.js';
import { IdentitiesCard } from './identities.js';
import { PasskeysCard } from './passkeys.js';
import { PasswordCard } from './password.js';
import { SessionsCard } from './sessions.js';

/** Everything that a user has for itself: how it signs in, and where it is signed in. */
export function AccountPage() {
  useTitle('Your account');
  return (
    <div className="mx-auto max-w-3xl space-y-6">
      <h1 className="text-2xl font-semibold tracking-tight">Your account</h1>
      <EmailCard />
      <PasswordCard />
      <PasskeysCard />
      <AuthenticatorCard />
      <IdentitiesCard />
      <SessionsCard />
    </div>
  );
}

import { Link } from '@tanstack/react-router';
import { useMe } from '../session/use-me.js';
import { Callout } from '../ui/callout.js';
import { When } from '../ui/when.js';
import { useTenant } from './use-tenant.js';

/** Tells who has one factor only that the tenant asks for a second one, before it refuses. */
export function SecondFactorDemand() {
  const { data: me } = useMe();
  const { membership } = useTenant();
  const from = membership?.second_factor_from;
  if (from === undefined || me?.session.has_second_factor !== false) return null;
  return (
    <Callout tone="warn" title="This tenant asks for a second factor">
      From <When at={from} /> on you need an authenticator or a passkey to work here.{' '}
      <Link to="/account" className="font-medium underline underline-offset-4">
        Set one up in your account
      </Link>
      , then sign in again with it.
    </Callout>
  );
}

import { Callout } from '../ui/callout.js';
import { useTenant } from './use-tenant.js';

/** Says why there is nothing to press, to who may only look. */
export function ReaderNote({ what }: { readonly what: string }) {
  const { membership, mayChange } = useTenant();
  if (!membership || mayChange) return null;
  return (
    <Callout tone="info">You are a Reader of this tenant: you see everything here, and cannot change {what}.</Callout>
  );
}

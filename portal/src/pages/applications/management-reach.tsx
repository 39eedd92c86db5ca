import { Callout } from '../../ui/callout.js';

const MAKES_KEYS = ['application:create', 'application:update'];

/** What a management Application comes to: no token data by itself, and still a way to it. */
export function ManagementReach({ permissions }: { readonly permissions: readonly string[] }) {
  return (
    <div className="space-y-3">
      <p className="text-sm text-muted">A management Application sees no token and no token data, whatever it holds.</p>
      {MAKES_KEYS.some((name) => permissions.includes(name)) && (
        <Callout tone="warn" title="It can give itself a way to the data">
          Who may create or update Applications can make a private one that reads tokens. Keep this key as carefully as
          the data.
        </Callout>
      )}
    </div>
  );
}

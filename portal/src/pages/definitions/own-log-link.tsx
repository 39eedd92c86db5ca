import { LogLink } from '../../tenant/log-link.js';

/** From a definition to its entries in the log. */
export function OwnLogLink({ id }: { readonly id: string }) {
  return (
    <LogLink search={{ entity_id: id }} className="inline-flex min-h-6 items-center text-sm font-medium text-accent">
      What happened to it, in the log
    </LogLink>
  );
}

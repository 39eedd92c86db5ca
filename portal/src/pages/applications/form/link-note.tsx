import { Callout } from '../../../ui/callout.js';

/** A link can ask for more than its sender should get: who follows it has to look. */
export function LinkNote({ lost }: { readonly lost: readonly string[] }) {
  return (
    <Callout tone="warn" title="A link filled in this form">
      <p>Check what it asks for. Nothing is created before you press the button.</p>
      {lost.length > 0 && <p>Left out, because it does not exist or this type cannot hold it: {lost.join(', ')}.</p>}
    </Callout>
  );
}

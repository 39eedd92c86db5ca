import { useStepUp } from '../session/step-up.js';
import { Button } from '../ui/button.js';
import { Callout } from '../ui/callout.js';
import { reloadTenant, useTenant } from './use-tenant.js';

/** What the server writes in place of a secret. */
const DOTS = '••••';

export interface HiddenSecretsProps {
  /** What may be hidden. */
  readonly secrets: readonly string[];
  /** What is asked for again to see them. */
  readonly part: string;
}

/** To who may see secrets, and whose sign-in is too old for it: why there are dots, and the way to what they stand for. */
export function HiddenSecrets({ secrets, part }: HiddenSecretsProps) {
  const { id, mayChange } = useTenant();
  const stepUp = useStepUp(() => reloadTenant(id, part));
  if (!mayChange || !secrets.includes(DOTS)) return stepUp.dialog;
  return (
    <>
      <Callout tone="info" title="Secrets are hidden">
        <div className="space-y-3">
          <p>
            They are shown after a sign-in of the last ten minutes. What you save meanwhile leaves them as they are.
          </p>
          <Button onClick={stepUp.ask}>Show them</Button>
        </div>
      </Callout>
      {stepUp.dialog}
    </>
  );
}

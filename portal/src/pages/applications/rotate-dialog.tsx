import { useState } from 'react';
import { call } from '../../api/call.js';
import { useSteppedUp } from '../../session/step-up.js';
import { reloadTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { Checkbox } from '../../ui/checkbox.js';
import { Dialog } from '../../ui/dialog.js';
import { FormFault } from '../../ui/form.js';
import { APPLICATIONS_PART } from './queries.js';

const OVERLAPS = [
  { seconds: 0, text: 'Not at all', hint: 'For a key that may be in wrong hands. What uses it stops at once.' },
  { seconds: 3_600, text: '1 hour', hint: 'Time for one deployment.' },
  { seconds: 86_400, text: '24 hours', hint: 'Time for several.' },
  { seconds: 604_800, text: '7 days', hint: 'The longest there is.' },
] as const;

export interface RotateDialogProps {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onMade: (key: string) => void;
}

/** A new key in place of all earlier ones. */
export function RotateDialog({ tenantId, applicationId, isOpen, onClose, onMade }: RotateDialogProps) {
  const [overlap, setOverlap] = useState<number>(86_400);
  const rotate = useSteppedUp(
    async (seconds: number) => {
      const { key } = await call('POST /applications/{id}/regenerate', {
        tenantId,
        params: { id: applicationId },
        body: { overlap_seconds: seconds },
      });
      onMade(key ?? ''); // Not the result of the mutation, which would be remembered.
    },
    () => reloadTenant(tenantId, APPLICATIONS_PART),
  );
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Rotate the keys"
      lead="A new key takes the place of all there are. For how long do the old ones still work?"
    >
      <fieldset className="space-y-3">
        <legend className="sr-only">How long the old keys still work</legend>
        {OVERLAPS.map(({ seconds, text, hint }) => (
          <Checkbox
            key={seconds}
            kind="radio"
            name="overlap"
            label={text}
            hint={hint}
            checked={overlap === seconds}
            onChange={() => setOverlap(seconds)}
          />
        ))}
      </fieldset>
      <FormFault error={rotate.error} />
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button look="primary" isBusy={rotate.isPending} onClick={() => rotate.mutate(overlap)}>
          Make the new key
        </Button>
      </div>
      {rotate.dialog}
    </Dialog>
  );
}

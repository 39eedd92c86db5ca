import { Card } from '../../../ui/card.js';
import { AccessPreview } from '../access-preview.js';
import type { ApplicationType } from '../application-types.js';
import { ManagementReach } from '../management-reach.js';
import type { ApplicationDraft } from './draft.js';
import { bodyOfDraft, isWholeRule } from './draft.js';

export interface DraftPreviewProps {
  readonly tenantId: string;
  readonly type: ApplicationType;
  readonly draft: ApplicationDraft;
}

/** Who would see what, while the rights are being written. */
export function DraftPreview({ tenantId, type, draft }: DraftPreviewProps) {
  const whole = draft.rules.filter(isWholeRule);
  const left = draft.rules.length - whole.length;
  const { permissions, rules } = bodyOfDraft(type, { ...draft, rules: whole });
  const isNothing = permissions.length === 0 && whole.length === 0;
  return (
    <Card title="Who would see what" lead="Judged by the server, for a key of this Application. No token is read.">
      <div className="space-y-3">
        {type === 'management' && <ManagementReach permissions={permissions} />}
        {type !== 'management' && isNothing && (
          <p className="text-sm text-muted">Choose permissions, or write a rule, to see what they amount to.</p>
        )}
        {type !== 'management' && !isNothing && (
          <AccessPreview tenantId={tenantId} rights={{ type, permissions, ...(rules && { rules }) }} isNarrow />
        )}
        {left > 0 && (
          <p role="status" className="text-[13px] text-muted">
            {left === 1 ? 'One rule is' : `${left} rules are`} left out until it has a container and an operation.
          </p>
        )}
      </div>
    </Card>
  );
}

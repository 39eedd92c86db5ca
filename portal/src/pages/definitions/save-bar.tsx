import { Button } from '../../ui/button.js';
import { Callout } from '../../ui/callout.js';
import { FormFault } from '../../ui/form.js';
import type { Draft } from './use-draft.js';

export interface SaveBarProps {
  readonly draft: Pick<Draft<unknown>, 'isChanged' | 'isOutdated' | 'reset'>;
  /** Undefined where it may be saved; else why not. */
  readonly blockedBy: string | undefined;
  readonly isBusy: boolean;
  readonly error: unknown;
  /** Those whose faults are shown where they are. */
  readonly fields: readonly string[];
  readonly onSave: () => void;
}

/** Saves a draft, or drops it. */
export function SaveBar({ draft, blockedBy, isBusy, error, fields, onSave }: SaveBarProps) {
  return (
    <div className="space-y-3">
      <FormFault error={error} fields={fields} />
      {draft.isOutdated && (
        <Callout tone="warn" title="It was changed meanwhile">
          Somebody saved another version since you began. Saving replaces what you changed here; the rest stays as it is
          stored. The version that was saved is kept.
        </Callout>
      )}
      {blockedBy !== undefined && draft.isChanged && <p className="text-[13px] text-danger">{blockedBy}</p>}
      <div className="flex flex-wrap items-center justify-end gap-2">
        <p role="status" className="mr-auto text-[13px] text-muted">
          {draft.isChanged ? 'Changes that are not saved' : 'Everything is saved'}
        </p>
        <Button look="quiet" disabled={!draft.isChanged || isBusy} onClick={draft.reset}>
          Discard
        </Button>
        <Button look="primary" isBusy={isBusy} disabled={!draft.isChanged || blockedBy !== undefined} onClick={onSave}>
          Save
        </Button>
      </div>
    </div>
  );
}

import { call } from '../../api/call.js';
import type { Reactor } from '../../api/generated.js';
import { useSteppedUp } from '../../session/step-up.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { classes } from '../../ui/classes.js';
import { announce } from '../../ui/notices.js';
import { repeatedName } from '../definitions/configuration-entries.js';
import { SaveBar } from '../definitions/save-bar.js';
import type { Draft } from '../definitions/use-draft.js';
import type { ReactorContent } from './reactor-content.js';
import { reactorFields, reactorPatch } from './reactor-content.js';
import { ReactorFields } from './reactor-fields.js';
import { TestRun } from './test-run.js';

export interface ReactorEditorProps {
  readonly reactor: Reactor;
  readonly draft: Draft<ReactorContent, Reactor>;
}

/** Changes a Reactor, and tries the change before it is saved. */
export function ReactorEditor({ reactor, draft }: ReactorEditorProps) {
  const { id: tenantId, mayChange } = useTenant();
  const save = useSteppedUp(
    (content: ReactorContent) =>
      call('PATCH /reactors/{id}', { tenantId, params: { id: reactor.id }, body: reactorPatch(draft.base, content) }),
    async () => {
      await reloadTenant(tenantId, 'reactors');
      draft.reset();
      announce({ id: 'saved', tone: 'ok', text: 'Saved. The next call runs it; the version before is kept.' });
    },
  );
  const { content } = draft;
  const isTwice = repeatedName(content.entries) !== undefined;
  return (
    <div className={classes('grid items-start gap-6', mayChange && 'xl:grid-cols-[minmax(0,1fr)_24rem]')}>
      <div className="space-y-5 rounded-xl border border-line bg-card p-5">
        <ReactorFields content={content} onChange={draft.change} error={save.error} mayChange={mayChange} />
        {mayChange && (
          <SaveBar
            draft={draft}
            blockedBy={isTwice ? 'A name of the configuration stands there twice.' : undefined}
            isBusy={save.isPending}
            error={save.error}
            fields={reactorFields(content)}
            onSave={() => save.mutate(content)}
          />
        )}
      </div>
      {mayChange && <TestRun reactorId={reactor.id} content={content} />}
      {save.dialog}
    </div>
  );
}

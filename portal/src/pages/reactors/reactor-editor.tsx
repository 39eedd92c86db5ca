import { call } from '../../api/call.js';
import type { Reactor } from '../../api/generated.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { DefinitionEditor } from '../definitions/definition-editor.js';
import type { Draft } from '../definitions/use-draft.js';
import type { ReactorContent } from './reactor-content.js';
import { reactorPatch } from './reactor-content.js';
import { REACTOR_FORM } from './reactor-fields.js';
import { TestRun } from './test-run.js';

export interface ReactorEditorProps {
  readonly reactor: Reactor;
  readonly draft: Draft<ReactorContent, Reactor>;
}

/** Changes a Reactor, and tries the change before it is saved. */
export function ReactorEditor({ reactor, draft }: ReactorEditorProps) {
  const { id: tenantId } = useTenant();
  return (
    <DefinitionEditor
      kind="reactors"
      draft={draft}
      form={REACTOR_FORM}
      save={(content) =>
        call('PATCH /reactors/{id}', { tenantId, params: { id: reactor.id }, body: reactorPatch(draft.base, content) })
      }
      beside={<TestRun reactorId={reactor.id} content={draft.content} />}
    />
  );
}

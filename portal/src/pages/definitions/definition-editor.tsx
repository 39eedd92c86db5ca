import type { ReactNode } from 'react';
import { useSteppedUp } from '../../session/step-up.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { announce } from '../../ui/notices.js';
import { repeatedName } from './configuration-entries.js';
import type { DefinitionKind } from './definition-kind.js';
import { EditorFrame } from './editor-frame.js';
import type { DefinitionContent, DefinitionForm } from './fields-props.js';
import { SaveBar } from './save-bar.js';
import type { Draft } from './use-draft.js';

export interface DefinitionEditorProps<Content extends DefinitionContent> {
  readonly kind: DefinitionKind;
  readonly draft: Draft<Content>;
  readonly form: DefinitionForm<Content>;
  readonly save: (content: Content) => Promise<unknown>;
  /** What the change is tried with. */
  readonly beside: ReactNode;
}

/** Changes what is stored, for who may; shows it to everybody else. */
export function DefinitionEditor<Content extends DefinitionContent>(props: DefinitionEditorProps<Content>) {
  const { kind, draft, beside } = props;
  const { Fields, namesOf } = props.form;
  const { id: tenantId, mayChange } = useTenant();
  const save = useSteppedUp(props.save, async () => {
    await reloadTenant(tenantId, kind);
    draft.reset();
    announce({ id: 'saved', tone: 'ok', text: 'Saved. The next call uses it; the version before is kept.' });
  });
  const { content } = draft;
  const isTwice = repeatedName(content.entries) !== undefined;
  return (
    <>
      <EditorFrame
        form={
          <>
            <Fields content={content} onChange={draft.change} error={save.error} mayChange={mayChange} />
            {mayChange && (
              <SaveBar
                draft={draft}
                blockedBy={isTwice ? 'A name of the configuration stands there twice.' : undefined}
                isBusy={save.isPending}
                error={save.error}
                fields={namesOf(content)}
                onSave={() => save.mutate(content)}
              />
            )}
          </>
        }
        beside={mayChange ? beside : null}
      />
      {save.dialog}
    </>
  );
}

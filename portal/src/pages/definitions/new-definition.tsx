import type { ReactNode } from 'react';
import { LeaveGuard } from '../../tenant/leave-guard.js';
import { Button } from '../../ui/button.js';
import { FormFault } from '../../ui/form.js';
import { repeatedName } from './configuration-entries.js';
import type { DefinitionKind } from './definition-kind.js';
import { TITLES } from './definition-kind.js';
import { EditorFrame } from './editor-frame.js';
import type { DefinitionContent, DefinitionForm } from './fields-props.js';

/** A creation as `useSteppedUp` has it. */
interface Creation<Content> {
  readonly mutate: (content: Content) => void;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly dialog: ReactNode;
}

export interface NewDefinitionProps<Content extends DefinitionContent> {
  readonly kind: DefinitionKind;
  readonly content: Content;
  readonly onChange: (change: (before: Content) => Content) => void;
  readonly form: DefinitionForm<Content>;
  readonly create: Creation<Content>;
  /** Whether something would be lost by leaving. */
  readonly isChanged: boolean;
  readonly beside: ReactNode;
}

/** The form for one that is not stored yet. */
export function NewDefinition<Content extends DefinitionContent>(props: NewDefinitionProps<Content>) {
  const { kind, content, create } = props;
  const { Fields, namesOf } = props.form;
  return (
    <>
      <EditorFrame
        form={
          <>
            <Fields
              content={content}
              onChange={(parts) => props.onChange((before) => ({ ...before, ...parts }))}
              error={create.error}
              mayChange
            />
            <FormFault error={create.error} fields={namesOf(content)} />
            <div className="flex justify-end">
              <Button
                look="primary"
                isBusy={create.isPending}
                disabled={repeatedName(content.entries) !== undefined}
                onClick={() => create.mutate(content)}
              >
                Create the {TITLES[kind]}
              </Button>
            </div>
          </>
        }
        beside={props.beside}
      />
      <LeaveGuard isChanged={props.isChanged} />
      {create.dialog}
    </>
  );
}

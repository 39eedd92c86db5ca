import type { ReactNode } from 'react';
import type { ApplicationTemplate, Permission } from '../../../api/generated.js';
import { Card } from '../../../ui/card.js';
import { Field } from '../../../ui/field.js';
import { FormFault, faultOfField } from '../../../ui/form.js';
import type { ApplicationType } from '../application-types.js';
import type { ApplicationDraft } from './draft.js';
import { fieldsOfDraft, withTemplate } from './draft.js';
import { EndField } from './end-field.js';
import { PermissionChoice } from './permission-choice.js';
import { RuleBuilder } from './rule-builder.js';
import { TemplateChoice } from './template-choice.js';

export interface ApplicationFormProps {
  readonly type: ApplicationType;
  readonly permissions: readonly Permission[];
  readonly templates: readonly ApplicationTemplate[];
  readonly draft: ApplicationDraft;
  readonly error: unknown;
  readonly onChange: (draft: ApplicationDraft) => void;
  /** What was wrong may now be elsewhere. */
  readonly onForget: () => void;
  readonly onSubmit: () => void;
  /** The buttons. */
  readonly children: ReactNode;
}

/** What an Application is called, what it may do, and when it ends. */
export function ApplicationForm(props: ApplicationFormProps) {
  const { type, permissions, templates, draft, error, onChange, onForget, onSubmit, children } = props;
  return (
    <form
      noValidate
      className="space-y-5"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Card title="Name and end">
        <div className="space-y-4">
          <Field
            label="Name"
            required
            autoComplete="off"
            value={draft.name}
            error={faultOfField(error, 'name')}
            onChange={(event) => onChange({ ...draft, name: event.target.value })}
          />
          <EndField
            value={draft.expiresAt}
            error={faultOfField(error, 'expires_at')}
            onChange={(expiresAt) => onChange({ ...draft, expiresAt })}
          />
        </div>
      </Card>
      <Card title="Permissions" lead={PERMISSIONS_LEAD[type]}>
        <div className="space-y-6">
          <TemplateChoice
            type={type}
            templates={templates}
            onChoose={(template) => {
              onForget();
              onChange(withTemplate(draft, template));
            }}
          />
          <PermissionChoice
            type={type}
            all={permissions}
            value={draft.permissions}
            error={faultOfField(error, 'permissions')}
            onChange={(names) => onChange({ ...draft, permissions: names })}
          />
        </div>
      </Card>
      <RulesCard {...props} />
      <FormFault error={error} fields={fieldsOfDraft(draft)} />
      <div className="flex flex-wrap justify-end gap-2">{children}</div>
    </form>
  );
}

const PERMISSIONS_LEAD: Readonly<Record<ApplicationType, string>> = {
  public: 'What it may do in every container. To narrow it to some containers, write rules instead.',
  private:
    'What it may do in every container: it reads masked data, and uses plain data. For less, or for plain data, write rules.',
  management: 'What it may look after.',
};

function RulesCard({ type, permissions, draft, error, onChange, onForget }: ApplicationFormProps) {
  if (type === 'management') {
    return <Card title="Rules" lead="Rules are about tokens, so a management Application has none." />;
  }
  return (
    <Card
      title="Rules"
      lead="What it sees in a container. The first rule that covers a token and lists the operation decides; permissions come last. Conditions on ids are for sessions alone."
    >
      <RuleBuilder
        type={type}
        all={permissions}
        rules={draft.rules}
        faultAt={(path) => faultOfField(error, path)}
        onChange={(rules) => onChange({ ...draft, rules })}
        onMoved={(rules) => {
          onForget();
          onChange({ ...draft, rules });
        }}
      />
    </Card>
  );
}

import { CodeEditor } from '../../code/code-editor.js';
import { Field } from '../../ui/field.js';
import { faultOfField } from '../../ui/form.js';
import { ApplicationSelect } from '../definitions/application-select.js';
import { ConfigurationFields } from '../definitions/configuration-fields.js';
import type { ReactorContent } from './reactor-content.js';

export interface ReactorFieldsProps {
  readonly content: ReactorContent;
  readonly onChange: (parts: Partial<ReactorContent>) => void;
  readonly error: unknown;
  readonly mayChange: boolean;
}

export function ReactorFields({ content, onChange, error, mayChange }: ReactorFieldsProps) {
  return (
    <div className="space-y-5">
      <div className="grid gap-5 md:grid-cols-2">
        <Field
          label="Name"
          value={content.name}
          readOnly={!mayChange}
          onChange={(event) => onChange({ name: event.target.value })}
          error={faultOfField(error, 'name')}
          autoComplete="off"
        />
        <ApplicationSelect
          value={content.applicationId}
          onChange={(applicationId) => onChange({ applicationId })}
          hint="The code acts as it through req.client."
          error={faultOfField(error, 'application.id') ?? faultOfField(error, 'application')}
          mayChange={mayChange}
        />
      </div>
      <CodeEditor
        label="Code"
        value={content.code}
        onChange={(code) => onChange({ code })}
        isReadOnly={!mayChange}
        error={faultOfField(error, 'code')}
      />
      <ConfigurationFields
        entries={content.entries}
        onChange={(entries) => onChange({ entries })}
        error={error}
        mayChange={mayChange}
      />
    </div>
  );
}

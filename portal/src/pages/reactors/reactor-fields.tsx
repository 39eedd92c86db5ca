import { CodeEditor } from '../../code/code-editor.js';
import { faultOfField } from '../../ui/form.js';
import { ConfigurationFields } from '../definitions/configuration-fields.js';
import type { DefinitionForm, FieldsProps } from '../definitions/fields-props.js';
import { NameAndApplication } from '../definitions/name-and-application.js';
import type { ReactorContent } from './reactor-content.js';
import { reactorFields } from './reactor-content.js';

export const REACTOR_FORM: DefinitionForm<ReactorContent> = { Fields: ReactorFields, namesOf: reactorFields };

function ReactorFields({ content, onChange, error, mayChange }: FieldsProps<ReactorContent>) {
  return (
    <div className="space-y-5">
      <div className="grid gap-5 md:grid-cols-2">
        <NameAndApplication
          content={content}
          onChange={onChange}
          error={error}
          mayChange={mayChange}
          hint="The code acts as it through req.client."
          applicationNames={['application.id', 'application']}
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

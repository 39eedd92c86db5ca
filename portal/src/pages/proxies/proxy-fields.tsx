import { Checkbox } from '../../ui/checkbox.js';
import { Field } from '../../ui/field.js';
import { faultOfField } from '../../ui/form.js';
import { ConfigurationFields } from '../definitions/configuration-fields.js';
import type { DefinitionForm, FieldsProps } from '../definitions/fields-props.js';
import { NameAndApplication } from '../definitions/name-and-application.js';
import type { ProxyContent } from './proxy-content.js';
import { proxyFields } from './proxy-content.js';
import { TransformFields } from './transform-fields.js';

export const PROXY_FORM: DefinitionForm<ProxyContent> = { Fields: ProxyFields, namesOf: proxyFields };

function ProxyFields({ content, onChange, error, mayChange }: FieldsProps<ProxyContent>) {
  return (
    <div className="space-y-5">
      <div className="grid gap-5 md:grid-cols-2">
        <NameAndApplication
          content={content}
          onChange={onChange}
          error={error}
          mayChange={mayChange}
          hint={
            content.requireAuth
              ? 'The code acts as it through req.client.'
              : 'Tokens are used with its rights, because callers have no key.'
          }
          applicationNames={['application_id', 'application.id']}
        >
          <Field
            label="Destination"
            value={content.destinationUrl}
            readOnly={!mayChange}
            onChange={(event) => onChange({ destinationUrl: event.target.value })}
            error={faultOfField(error, 'destination_url')}
            hint="Where requests go. The path and query of each call are added."
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
          />
        </NameAndApplication>
        <Checkbox
          className="md:pt-7"
          label="Calls need an API key"
          checked={content.requireAuth}
          disabled={!mayChange}
          onChange={(event) => onChange({ requireAuth: event.target.checked })}
          hint="Without this, whoever knows the address can have requests sent, with the rights of the Application."
        />
      </div>
      <TransformFields content={content} onChange={onChange} error={error} mayChange={mayChange} />
      <ConfigurationFields
        entries={content.entries}
        onChange={(entries) => onChange({ entries })}
        error={error}
        mayChange={mayChange}
      />
    </div>
  );
}

import { Eye, EyeOff, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { faultOfField } from '../../ui/form.js';
import { TextArea } from '../../ui/text-area.js';
import type { ConfigurationEntry } from './configuration-entries.js';
import { CONFIGURATION_ENTRIES_MAX, repeatedName } from './configuration-entries.js';

export interface ConfigurationFieldsProps {
  readonly entries: readonly ConfigurationEntry[];
  readonly onChange: (entries: readonly ConfigurationEntry[]) => void;
  readonly error: unknown;
  readonly mayChange: boolean;
}

const ROWS_MAX = 8;

/** Names and values that the code is given. The values are often secrets, so they are dots until they are asked for. */
export function ConfigurationFields({ entries, onChange, error, mayChange }: ConfigurationFieldsProps) {
  const [added, setAdded] = useState(0);
  const repeated = repeatedName(entries);
  const fault = repeated === undefined ? faultOfField(error, 'configuration') : `has ${repeated} twice`;
  const change = (key: string, parts: Partial<ConfigurationEntry>) =>
    onChange(entries.map((entry) => (entry.key === key ? { ...entry, ...parts } : entry)));
  return (
    <fieldset className="space-y-3">
      <legend className="text-sm font-medium">Configuration</legend>
      <p className="text-[13px] text-muted">
        The code reads these as <code className="font-mono">req.configuration</code>. They are stored sealed, like the
        code.
      </p>
      {entries.length > 0 && (
        <ul className="divide-y divide-line rounded-lg border border-line">
          {entries.map((entry) => (
            <EntryFields
              key={entry.key}
              entry={entry}
              mayChange={mayChange}
              fault={faultOfField(error, `configuration.${entry.name}`)}
              onChange={(parts) => change(entry.key, parts)}
              onRemove={() => onChange(entries.filter(({ key }) => key !== entry.key))}
            />
          ))}
        </ul>
      )}
      {entries.length === 0 && !mayChange && <p className="text-sm text-muted">There are none.</p>}
      {fault && (
        <p role="alert" className="text-[13px] text-danger">
          Configuration {fault}
        </p>
      )}
      {mayChange && (
        <Button
          disabled={entries.length >= CONFIGURATION_ENTRIES_MAX}
          onClick={() => {
            setAdded(added + 1);
            onChange([...entries, { key: `new ${added}`, name: '', value: '', isNew: true }]);
          }}
        >
          <Plus aria-hidden className="size-4" />
          Add a value
        </Button>
      )}
    </fieldset>
  );
}

interface EntryFieldsProps {
  readonly entry: ConfigurationEntry;
  readonly mayChange: boolean;
  readonly fault: string | undefined;
  readonly onChange: (parts: Partial<ConfigurationEntry>) => void;
  readonly onRemove: () => void;
}

function EntryFields({ entry, mayChange, fault, onChange, onRemove }: EntryFieldsProps) {
  const { name, value, isNew } = entry;
  const [isShown, show] = useState(isNew);
  return (
    <li className="space-y-3 p-3">
      <div className="flex items-center gap-2">
        {isNew ? (
          <p className="min-w-0 flex-1 text-sm font-medium">Another value</p>
        ) : (
          <p className="min-w-0 flex-1 font-mono text-[13px] wrap-anywhere">
            {name} {!isShown && <span className="ml-2 text-muted">••••••••</span>}
          </p>
        )}
        {mayChange && !isNew && (
          <Button look="quiet" aria-label={`${isShown ? 'Hide' : 'Show'} ${name}`} onClick={() => show(!isShown)}>
            {isShown ? <EyeOff aria-hidden className="size-4" /> : <Eye aria-hidden className="size-4" />}
          </Button>
        )}
        {mayChange && (
          <Button look="quiet" aria-label={`Remove ${name || 'the new value'}`} onClick={onRemove}>
            <Trash2 aria-hidden className="size-4" />
          </Button>
        )}
      </div>
      {isNew && (
        <Field
          label="Name of the value"
          value={name}
          onChange={(event) => onChange({ name: event.target.value })}
          autoComplete="off"
          spellCheck={false}
          hint="Letters, digits, underscores and hyphens."
        />
      )}
      {isShown && mayChange && (
        // An input of one line would drop the ends of lines, which keys in files have.
        <TextArea
          isCode
          label={isNew ? 'New value' : `Value of ${name}`}
          rows={Math.min(ROWS_MAX, value.split('\n').length)}
          value={value}
          onChange={(event) => onChange({ value: event.target.value })}
          autoComplete="off"
        />
      )}
      {fault && <p className="text-[13px] text-danger">The value {fault}</p>}
    </li>
  );
}

import { ArrowDown, ArrowUp, Trash2 } from 'lucide-react';
import type { Permission } from '../../../api/generated.js';
import { Checkbox } from '../../../ui/checkbox.js';
import { Field } from '../../../ui/field.js';
import { IconButton } from '../../../ui/icon-button.js';
import { Select } from '../../../ui/select.js';
import type { ApplicationType } from '../application-types.js';
import { partsOfPermission } from '../permission-words.js';
import type { Transform } from '../transforms.js';
import { TRANSFORM_NAMES, TRANSFORMS } from '../transforms.js';
import type { DraftRule } from './draft.js';
import { reasonText } from './permission-choice.js';

export interface RuleEditorProps {
  readonly type: ApplicationType;
  readonly all: readonly Permission[];
  readonly rule: DraftRule;
  readonly number: number;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly faultOf: (field: string) => string | undefined;
  readonly onChange: (rule: DraftRule) => void;
  readonly onMove: (by: -1 | 1) => void;
  readonly onRemove: () => void;
  /** The priority was written: the rule may belong elsewhere. */
  readonly onPlaced: () => void;
}

export function RuleEditor(props: RuleEditorProps) {
  const { rule, number, isFirst, isLast, onMove, onRemove } = props;
  return (
    <fieldset className="min-w-0 rounded-xl border border-line bg-page">
      <legend className="sr-only">Rule {number}</legend>
      <div className="flex items-center gap-1 border-b border-line py-1.5 pr-2 pl-4">
        <p aria-hidden className="mr-auto min-w-0 truncate text-sm font-medium">
          Rule {number}
          {rule.container && <span className="ml-2 font-mono text-[13px] text-muted">{rule.container}</span>}
        </p>
        <IconButton icon={ArrowUp} label={`Move rule ${number} up`} disabled={isFirst} onClick={() => onMove(-1)} />
        <IconButton icon={ArrowDown} label={`Move rule ${number} down`} disabled={isLast} onClick={() => onMove(1)} />
        <IconButton icon={Trash2} label={`Remove rule ${number}`} onClick={onRemove} />
      </div>
      <div className="space-y-4 p-4">
        <RuleTexts {...props} />
        <RulePermissions {...props} />
      </div>
    </fieldset>
  );
}

function RuleTexts({ rule, faultOf, onChange, onPlaced }: RuleEditorProps) {
  const text = (name: 'container' | 'description' | 'priority') => ({
    value: rule[name],
    error: faultOf(name),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ ...rule, [name]: event.target.value }),
    autoComplete: 'off',
  });
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field
        label="Container"
        placeholder="/pci/"
        spellCheck={false}
        hint="A path; it covers itself and all below it."
        {...text('container')}
      />
      <Select
        label="What it shows"
        hint={TRANSFORMS[rule.transform].hint}
        error={faultOf('transform')}
        value={rule.transform}
        onChange={(event) => onChange({ ...rule, transform: event.target.value as Transform })} // One of the options.
        options={TRANSFORM_NAMES.map((name) => ({ value: name, text: TRANSFORMS[name].text }))}
      />
      <Field label="Description" hint="For people. It may be left out." {...text('description')} />
      <Field
        label="Priority"
        type="number"
        min={1}
        inputMode="numeric"
        hint="The lowest is tried first."
        {...text('priority')}
        onBlur={onPlaced}
      />
    </div>
  );
}

function RulePermissions({ type, all, rule, faultOf, onChange }: RuleEditorProps) {
  const error = faultOf('permissions');
  return (
    <fieldset className="min-w-0 space-y-2.5">
      <legend className="text-sm font-medium">For these operations</legend>
      <div className="grid gap-x-6 gap-y-2 sm:grid-cols-2 lg:grid-cols-3">
        {all
          .filter((permission) => partsOfPermission(permission.type).resource === 'token')
          .map(({ type: name, application_types: types }) => (
            <Checkbox
              key={name}
              label={<span className="font-mono text-[13px]">{name}</span>}
              {...(!types.includes(type) && { hint: reasonText(types) })}
              disabled={!types.includes(type)}
              checked={rule.permissions.includes(name)}
              onChange={(event) =>
                onChange({
                  ...rule,
                  permissions: event.target.checked
                    ? [...rule.permissions, name]
                    : rule.permissions.filter((each) => each !== name),
                })
              }
            />
          ))}
      </div>
      {error && (
        <p role="alert" className="text-[13px] text-danger">
          {error}
        </p>
      )}
    </fieldset>
  );
}

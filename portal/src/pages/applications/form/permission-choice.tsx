import type { Permission } from '../../../api/generated.js';
import { Checkbox } from '../../../ui/checkbox.js';
import type { ApplicationType } from '../application-types.js';
import { APPLICATION_TYPES } from '../application-types.js';
import { groupedPermissions, resourceText } from '../permission-words.js';

export interface PermissionChoiceProps {
  readonly type: ApplicationType;
  readonly all: readonly Permission[];
  readonly value: readonly string[];
  readonly error?: string | undefined;
  readonly onChange: (names: readonly string[]) => void;
}

type Group = readonly [string, readonly Permission[]];

/** By what they are about. What the type cannot hold is there as well, with the reason. */
export function PermissionChoice(props: PermissionChoiceProps) {
  const { type, all, error } = props;
  const groups = [...groupedPermissions(all, (permission) => permission.type)];
  const isOpen = ([, group]: Group) => group.some(({ application_types: types }) => types.includes(type));
  const closed = groups.filter((group) => !isOpen(group));
  const typeText = APPLICATION_TYPES[type].text.toLowerCase();
  return (
    <div className="space-y-5">
      {groups.filter(isOpen).map((group) => (
        <PermissionGroup key={group[0]} {...props} group={group} />
      ))}
      {error && (
        <p role="alert" className="text-[13px] text-danger">
          Permissions: {error}
        </p>
      )}
      {closed.length > 0 && (
        <details className="rounded-lg border border-line px-4 py-3">
          <summary className="cursor-pointer py-0.5 text-sm font-medium">
            What a {typeText} Application cannot hold: {closed.map(([resource]) => resourceText(resource)).join(', ')}
          </summary>
          <div className="mt-4 space-y-5">
            {closed.map((group) => (
              <PermissionGroup key={group[0]} {...props} group={group} />
            ))}
          </div>
        </details>
      )}
    </div>
  );
}

function PermissionGroup({ type, value, onChange, group }: PermissionChoiceProps & { readonly group: Group }) {
  const [resource, permissions] = group;
  const possible = permissions.filter(({ application_types: types }) => types.includes(type)).map((each) => each.type);
  const others = value.filter((name) => !possible.includes(name));
  const isAll = possible.every((name) => value.includes(name));
  return (
    <fieldset className="min-w-0 space-y-2.5">
      <legend className="sr-only">{resourceText(resource)}</legend>
      <div className="flex min-h-8 items-center justify-between gap-3 border-b border-line pb-1 text-sm font-medium">
        <span aria-hidden>{resourceText(resource)}</span>
        {possible.length > 1 && (
          <button
            type="button"
            onClick={() => onChange(isAll ? others : [...others, ...possible])}
            aria-label={`${isAll ? 'None' : 'All'} of ${resourceText(resource)}`}
            className="min-h-6 rounded px-2 text-[13px] text-accent hover:underline"
          >
            {isAll ? 'None' : 'All'}
          </button>
        )}
      </div>
      <div className="grid gap-x-6 gap-y-2.5 sm:grid-cols-2">
        {permissions.map(({ type: name, description, application_types: types }) => (
          <Checkbox
            key={name}
            label={<span className="font-mono text-[13px]">{name}</span>}
            hint={types.includes(type) ? description : `${description}. ${reasonText(types)}`}
            disabled={!types.includes(type)}
            checked={value.includes(name)}
            onChange={(event) =>
              onChange(event.target.checked ? [...value, name] : value.filter((each) => each !== name))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}

export function reasonText(types: Permission['application_types']): string {
  return `Only ${types.join(' and ')} Applications can hold it.`;
}

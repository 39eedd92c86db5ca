import type { ApplicationTemplate } from '../../../api/generated.js';
import type { ApplicationType } from '../application-types.js';

export interface TemplateChoiceProps {
  readonly type: ApplicationType;
  readonly templates: readonly ApplicationTemplate[];
  readonly onChoose: (template: ApplicationTemplate) => void;
}

/** Rights that are often wanted, to begin with. */
export function TemplateChoice({ type, templates, onChoose }: TemplateChoiceProps) {
  const fitting = templates.filter(({ application_type: of }) => of === type);
  if (fitting.length === 0) return null;
  return (
    <div className="space-y-2">
      <h3 className="text-sm font-medium">Start from</h3>
      <ul className="grid gap-2 sm:grid-cols-2">
        {fitting.map((template) => (
          <li key={template.id}>
            <button
              type="button"
              onClick={() => onChoose(template)}
              className="flex h-full w-full flex-col items-start rounded-lg border border-line-strong px-3 py-2 text-left hover:border-accent hover:bg-sunken"
            >
              <span className="block text-sm font-medium">{template.name}</span>
              <span className="block text-[13px] text-muted">{template.description}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

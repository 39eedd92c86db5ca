import { Plus } from 'lucide-react';
import { CodeEditor } from '../../code/code-editor.js';
import { Button } from '../../ui/button.js';
import { faultOfField } from '../../ui/form.js';
import type { FieldsProps } from '../definitions/fields-props.js';
import type { ProxyContent } from './proxy-content.js';

const FIRST_REQUEST = `// Runs before a request is sent, with values in place of tokens.
module.exports = async function (req) {
  const { body, headers } = req.args;
  return { body, headers };
};
`;
const FIRST_RESPONSE = `// Runs on answers with a status from 200 to 299.
module.exports = async function (req) {
  const { body, headers } = req.args;
  return { body, headers };
};
`;

const PARTS = [
  {
    field: 'requestCode',
    path: 'request_transform.code',
    title: 'Code for requests',
    none: 'Requests are sent as they come in.',
    first: FIRST_REQUEST,
  },
  {
    field: 'responseCode',
    path: 'response_transform.code',
    title: 'Code for answers',
    none: 'Answers go back as the destination gives them.',
    first: FIRST_RESPONSE,
  },
] as const;

/** The code that requests and answers pass through, if there is any. */
export function TransformFields({ content, onChange, error, mayChange }: FieldsProps<ProxyContent>) {
  return PARTS.map(({ field, path, title, none, first }) => {
    const code = content[field];
    if (code === undefined) {
      return (
        <div
          key={field}
          className="flex flex-wrap items-center justify-between gap-3 rounded-lg border border-dashed border-line-strong px-4 py-3"
        >
          <div>
            <p className="text-sm font-medium">{title}</p>
            <p className="text-[13px] text-muted">{none}</p>
          </div>
          {mayChange && (
            <Button onClick={() => onChange({ [field]: first })} aria-label={`Add ${title.toLowerCase()}`}>
              <Plus aria-hidden className="size-4" />
              Add
            </Button>
          )}
        </div>
      );
    }
    return (
      <div key={field} className="space-y-2">
        <CodeEditor
          label={title}
          value={code}
          onChange={(text) => onChange({ [field]: text })}
          isReadOnly={!mayChange}
          error={faultOfField(error, path)}
        />
        {mayChange && (
          <div className="flex justify-end">
            <Button look="quiet" onClick={() => onChange({ [field]: undefined })}>
              Remove {title.toLowerCase()}
            </Button>
          </div>
        )}
      </div>
    );
  });
}

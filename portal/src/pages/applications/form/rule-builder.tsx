import { Plus } from 'lucide-react';
import type { Permission } from '../../../api/generated.js';
import { Button } from '../../../ui/button.js';
import type { ApplicationType } from '../application-types.js';
import type { DraftRule } from './draft.js';
import { inOrder, moveRule, newRule } from './draft.js';
import { RuleEditor } from './rule-editor.js';

const RULES_MAX = 100;

export interface RuleBuilderProps {
  readonly type: ApplicationType;
  readonly all: readonly Permission[];
  readonly rules: readonly DraftRule[];
  /** What is wrong with a field of the sent rules, such as `rules[0].container`. */
  readonly faultAt: (path: string) => string | undefined;
  readonly onChange: (rules: readonly DraftRule[]) => void;
  /** The same, where rules are no longer where they were when they were sent. */
  readonly onMoved: (rules: readonly DraftRule[]) => void;
}

/** Who sees what of which container. The first rule that covers a token and lists the operation decides. */
export function RuleBuilder({ type, all, rules, faultAt, onChange, onMoved }: RuleBuilderProps) {
  const whole = faultAt('rules');
  return (
    <div className="space-y-4">
      {rules.length > 0 && (
        <ol className="space-y-4">
          {rules.map((rule, at) => (
            <li key={rule.key}>
              <RuleEditor
                type={type}
                all={all}
                rule={rule}
                number={at + 1}
                isFirst={at === 0}
                isLast={at === rules.length - 1}
                faultOf={(field) => faultAt(`rules[${at}].${field}`)}
                onChange={(changed) => onChange(rules.map((each) => (each.key === rule.key ? changed : each)))}
                onMove={(by) => onMoved(moveRule(rules, at, by))}
                onRemove={() => onMoved(rules.filter(({ key }) => key !== rule.key))}
                onPlaced={() => {
                  const ordered = inOrder(rules);
                  if (ordered.some(({ key }, place) => key !== rules[place]?.key)) onMoved(ordered);
                }}
              />
            </li>
          ))}
        </ol>
      )}
      {whole && (
        <p role="alert" className="text-[13px] text-danger">
          Rules: {whole}
        </p>
      )}
      <Button disabled={rules.length >= RULES_MAX} onClick={() => onChange([...rules, newRule(rules)])}>
        <Plus aria-hidden className="size-4" />
        Add a rule
      </Button>
    </div>
  );
}

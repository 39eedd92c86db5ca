import type { Log } from '../api/generated.js';
import type { Tone } from '../ui/badge.js';
import { Badge } from '../ui/badge.js';

const OUTCOMES: Readonly<Record<string, readonly [Tone, string]>> = {
  success: ['ok', 'Success'],
  failure: ['warn', 'Failure'],
  denied: ['danger', 'Denied'],
};

/** How what an entry of the log is about ended. */
export function OutcomeBadge({ outcome = 'success' }: Pick<Log, 'outcome'>) {
  const [tone, text] = OUTCOMES[outcome] ?? (['plain', outcome] as const);
  return <Badge tone={tone}>{text}</Badge>;
}

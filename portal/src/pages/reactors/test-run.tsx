import { Play } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/call.js';
import { ApiFault } from '../../api/fault.js';
import { useSteppedUp } from '../../session/step-up.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { FormFault } from '../../ui/form.js';
import { TextArea } from '../../ui/text-area.js';
import { configurationOf } from '../definitions/configuration-entries.js';
import { NoCodeNote } from './no-code-note.js';
import type { ReactorContent } from './reactor-content.js';
import { runOutcome } from './run-outcome.js';
import { RunResult } from './run-result.js';

export interface TestRunProps {
  /** Undefined for code that is not stored yet. */
  readonly reactorId?: string;
  readonly content: ReactorContent;
}

/** The code as it stood when it was run, also if a sign-in came between. */
interface TrialInput {
  readonly code: string;
  readonly configuration: Readonly<Record<string, string>>;
  readonly args: unknown;
}

const FIRST_ARGS = '{\n  "name": "Ada"\n}';

/** Runs the code as it stands in the editor, saved or not. */
export function TestRun({ reactorId, content }: TestRunProps) {
  const { id: tenantId } = useTenant();
  const [text, setText] = useState(FIRST_ARGS);
  const read = argsOf(text);
  const test = useSteppedUp((body: TrialInput) =>
    runOutcome(() =>
      reactorId === undefined
        ? call('POST /reactors/test', { tenantId, body })
        : call('POST /reactors/{id}/test', { tenantId, params: { id: reactorId }, body }),
    ),
  );
  const isWithoutCode = test.error instanceof ApiFault && test.error.code === 'reactors_unavailable';
  const wrongArgs = read.fault ?? argsFault(test.error);
  return (
    <Card title="Test run" lead="Runs what is in the editor, saved or not. Without tokens, and nothing is kept.">
      <div className="space-y-4">
        <TextArea
          isCode
          rows={5}
          label="Arguments (JSON)"
          value={text}
          onChange={(event) => setText(event.target.value)}
          error={wrongArgs}
        />
        <Button
          look="primary"
          isBusy={test.isPending}
          disabled={read.fault !== undefined}
          onClick={() =>
            test.mutate({ code: content.code, configuration: configurationOf(content.entries), args: read.args })
          }
        >
          {!test.isPending && <Play aria-hidden className="size-4" />}
          Run
        </Button>
        {isWithoutCode ? <NoCodeNote /> : <FormFault error={test.error} fields={argsPaths(test.error)} />}
        {test.data && !test.isPending && <RunResult outcome={test.data} />}
        <Limits />
      </div>
      {test.dialog}
    </Card>
  );
}

function argsOf(text: string): { readonly args?: unknown; readonly fault?: string } {
  if (text.trim() === '') return {};
  try {
    return { args: JSON.parse(text) };
  } catch (error) {
    return { fault: `This is not JSON: ${error instanceof Error ? error.message : 'it cannot be read'}` };
  }
}

/** The server names the place within the arguments. */
function argsPaths(error: unknown): readonly string[] {
  return error instanceof ApiFault ? Object.keys(error.errors).filter((path) => /^args\b/.test(path)) : [];
}

function argsFault(error: unknown): string | undefined {
  const paths = argsPaths(error);
  if (!(error instanceof ApiFault) || paths.length === 0) return undefined;
  return paths.map((path) => `${path} ${error.of(path)}`).join('; ');
}

function Limits() {
  return (
    <details className="text-[13px] text-muted">
      <summary className="cursor-pointer py-1 font-medium">Limits of a run</summary>
      <ul className="mt-1 list-disc space-y-1 pl-5">
        <li>30 s, then the process is ended</li>
        <li>5 MiB of arguments, and 5 MiB of answer</li>
        <li>About 190 MB of memory</li>
        <li>64 KiB of what is printed are shown</li>
        <li>A test has no tokens and no client: expressions are refused, and req.client is null</li>
      </ul>
    </details>
  );
}

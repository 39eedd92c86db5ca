import type { ReactNode } from 'react';
import { ScrollText } from '../../code/scroll-text.js';
import { Badge } from '../../ui/badge.js';
import { classes } from '../../ui/classes.js';
import { durationText } from '../definitions/definition-kind.js';
import type { ConsoleLine, RunOutcome } from './run-outcome.js';

const LEVELS: Readonly<Record<string, string>> = { error: 'text-danger', warn: 'text-warn' };
/** Limits by what the server says of them. The others are named in the text of the failure. */
const LIMITS: Readonly<Record<string, string>> = { reactor_timeout: 'Time limit reached' };

/** What a test run returned or threw, what it printed, and how long it took. */
export function RunResult({ outcome }: { readonly outcome: RunOutcome }) {
  return (
    <section aria-label="Result" className="space-y-4">
      <p role="status" className="flex flex-wrap items-center gap-2 text-sm">
        {outcome.kind === 'failed' ? (
          <Badge tone="danger">Failed</Badge>
        ) : (
          <Badge tone="ok">{WORDS[outcome.kind]}</Badge>
        )}
        {outcome.kind === 'failed' && LIMITS[outcome.code] && <Badge tone="warn">{LIMITS[outcome.code]}</Badge>}
        {outcome.durationMs !== undefined && (
          <span className="text-muted">{durationText(outcome.durationMs)} of 30 s, with the start of a process</span>
        )}
      </p>
      <Told outcome={outcome} />
      <Printed lines={outcome.console} />
    </section>
  );
}

const WORDS = { returned: 'Returned', answered: 'Answered in its own words' } as const;

function Told({ outcome }: { readonly outcome: RunOutcome }) {
  if (outcome.kind === 'failed') return <Failure outcome={outcome} />;
  if (outcome.kind === 'answered') {
    return (
      <Part title={`A CustomHttpResponseError${outcome.status === undefined ? '' : `, status ${outcome.status}`}`}>
        <Json label="Answer" value={outcome.response ?? 'Nothing but a status that has no body'} />
      </Part>
    );
  }
  return (
    <>
      <Part title="raw">
        <Json label="raw" value={outcome.raw} />
      </Part>
      {outcome.tokenize !== undefined && (
        <Part title="tokenize, of which a call would make tokens">
          <Json label="tokenize" value={outcome.tokenize} />
        </Part>
      )}
    </>
  );
}

function Failure({ outcome }: { readonly outcome: Extract<RunOutcome, { readonly kind: 'failed' }> }) {
  const messages = Object.entries(outcome.errors).flatMap(([name, texts]) =>
    texts.map((text) => (name === 'error' ? text : `${name}: ${text}`)),
  );
  return (
    <Part title={`${outcome.detail}${outcome.status === undefined ? '' : `, status ${outcome.status}`}`}>
      <p className="font-mono text-[13px] text-muted">{outcome.code}</p>
      {messages.map((text) => (
        <pre
          key={text}
          className="mt-2 rounded-lg bg-danger-soft p-3 font-mono text-[13px] wrap-anywhere whitespace-pre-wrap text-danger"
        >
          {text}
        </pre>
      ))}
    </Part>
  );
}

function Printed({ lines }: { readonly lines: readonly ConsoleLine[] }) {
  return (
    <Part title="Console">
      {lines.length === 0 ? (
        <p className="text-sm text-muted">The code printed nothing.</p>
      ) : (
        <ScrollText label="What the code printed">
          <ol className="space-y-1">
            {lines.map(({ level, text }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have nothing but their place
              <li key={at} className="flex gap-3">
                <span className={classes('w-12 shrink-0', LEVELS[level] ?? 'text-muted')}>{level}</span>
                <span className="min-w-0 wrap-anywhere whitespace-pre-wrap">{text}</span>
              </li>
            ))}
          </ol>
        </ScrollText>
      )}
    </Part>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div>
      <h3 className="mb-1.5 text-[13px] font-medium">{title}</h3>
      {children}
    </div>
  );
}

function Json({ label, value }: { readonly label: string; readonly value: unknown }) {
  if (value === undefined) return <p className="text-sm text-muted">Nothing.</p>;
  return <ScrollText label={label}>{JSON.stringify(value, null, 2)}</ScrollText>;
}

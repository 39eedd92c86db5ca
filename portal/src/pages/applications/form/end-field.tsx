import { useState } from 'react';
import { Field } from '../../../ui/field.js';
import { useTimes } from '../../../ui/when.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const CHOICES = [
  ['30 days', 30],
  ['90 days', 90],
  ['1 year', 365],
] as const;

export interface EndFieldProps {
  /** ISO 8601, or empty. */
  readonly value: string;
  readonly error?: string | undefined;
  readonly onChange: (value: string) => void;
}

/** When an Application ends by itself; read as the times on the pages are. */
export function EndField({ value, error, onChange }: EndFieldProps) {
  const { zone } = useTimes();
  // What is typed stays as it is: a date that is read and written anew could jump under the hands of who types it.
  const [typed, setTyped] = useState({ text: '', iso: '', zone });
  const isTyped = typed.iso === value && typed.zone === zone;
  return (
    <div className="space-y-2">
      <Field
        label={`Ends at (${zone === 'utc' ? 'UTC' : 'local time'})`}
        type="datetime-local"
        className="sm:max-w-96"
        hint="From then on its keys are refused, and it is deleted. Without a date it has no end."
        error={error}
        max="9999-12-31T23:59"
        value={isTyped ? typed.text : inputText(value, zone)}
        onChange={({ target: { value: text } }) => {
          const iso = isoText(text, zone);
          setTyped({ text, iso, zone });
          onChange(iso);
        }}
      />
      <p className="flex flex-wrap gap-2">
        {CHOICES.map(([text, days]) => (
          <Choice key={text} text={text} onChoose={() => onChange(inDays(days))} />
        ))}
        <Choice text="No end" onChoose={() => onChange('')} />
      </p>
    </div>
  );
}

function Choice({ text, onChoose }: { readonly text: string; readonly onChoose: () => void }) {
  return (
    <button
      type="button"
      onClick={onChoose}
      className="min-h-7 rounded-full border border-line-strong px-3 text-[13px] hover:border-accent hover:bg-sunken"
    >
      {text}
    </button>
  );
}

function inDays(days: number): string {
  const at = Date.now() + days * DAY_MS;
  return new Date(at - (at % MINUTE_MS)).toISOString();
}

/** What the input takes: a date and a time without a zone. */
function inputText(value: string, zone: 'utc' | 'local'): string {
  if (value === '') return '';
  const at = new Date(value);
  const shiftMs = zone === 'utc' ? 0 : at.getTimezoneOffset() * MINUTE_MS;
  return new Date(at.getTime() - shiftMs).toISOString().slice(0, 16);
}

function isoText(text: string, zone: 'utc' | 'local'): string {
  const at = text === '' ? undefined : new Date(zone === 'utc' ? `${text}Z` : text);
  return at === undefined || Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

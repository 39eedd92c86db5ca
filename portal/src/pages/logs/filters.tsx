import { X } from 'lucide-react';
import { useState } from 'react';
import { notForAddress } from '../../tenant/address-text.js';
import { useEntityTypes, wordsOf } from '../../tenant/entity-types.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { Field } from '../../ui/field.js';
import { Form, faultOfField } from '../../ui/form.js';
import { Select } from '../../ui/select.js';
import { useTimes } from '../../ui/when.js';
import { inputOf, momentOf } from './date-input.js';
import type { LogSearchUse } from './log-search.js';
import { FILTER_TEXTS, FILTERS, RANGES, rangeOf } from './log-search.js';

export interface FiltersProps {
  readonly use: LogSearchUse;
  /** What the server finds wrong with the filter. */
  readonly error: unknown;
  /** A tail has no range: it begins now. */
  readonly isLive: boolean;
}

/** What entries can say they are about. The list is open: an address may name another one. */
const OPERATIONS = [
  ...['create', 'read', 'search', 'use', 'update', 'delete', 'denied', 'regenerate', 'key_create', 'key_delete'],
  ...['sign_in', 'accept', 'authorize'],
];
const OUTCOMES = ['success', 'failure', 'denied'];
const DAY_MS = 86_400_000;

/** Everything that narrows the log. */
export function Filters(props: FiltersProps) {
  return (
    <section aria-label="Filter" className="space-y-4 rounded-xl border border-line bg-card p-5">
      <Choices {...props} />
      <Typed {...props} />
      <Chosen use={props.use} />
    </section>
  );
}

function Choices({ use, error, isLive }: FiltersProps) {
  const { types } = useEntityTypes();
  const { search, narrow } = use;
  const named = types.map(({ value, display_name: text }) => ({ value, text }));
  return (
    <div
      className={classes(
        'grid grid-cols-1 gap-4 min-[24rem]:grid-cols-2',
        isLive ? 'md:grid-cols-3' : 'xl:grid-cols-4',
      )}
    >
      {!isLive && <RangeChoice use={use} />}
      <Select
        label={FILTER_TEXTS.entity_type}
        value={search.entity_type ?? ''}
        onChange={(event) => narrow({ entity_type: event.target.value })}
        error={faultOfField(error, 'entity_type')}
        options={withAny('Every type', named, search.entity_type)}
      />
      <Select
        label={FILTER_TEXTS.operation}
        value={search.operation ?? ''}
        onChange={(event) => narrow({ operation: event.target.value })}
        error={faultOfField(error, 'operation')}
        options={withAny('Every operation', OPERATIONS.map(inWords), search.operation)}
      />
      <Select
        label={FILTER_TEXTS.outcome}
        value={search.outcome ?? ''}
        onChange={(event) => narrow({ outcome: event.target.value })}
        error={faultOfField(error, 'outcome')}
        options={withAny('Every outcome', OUTCOMES.map(inWords), search.outcome)}
      />
    </div>
  );
}

function RangeChoice({ use: { search, narrowTimes } }: { readonly use: LogSearchUse }) {
  return (
    <Select
      label="Time"
      value={rangeOf(search)}
      onChange={({ target: { value } }) =>
        narrowTimes(value === 'custom' ? { start_date: new Date(Date.now() - DAY_MS).toISOString() } : { range: value })
      }
      options={[{ value: '', text: 'Any time' }, ...RANGES, { value: 'custom', text: 'Custom' }]}
    />
  );
}

const inWords = (value: string) => ({ value, text: wordsOf(value) });

function withAny(any: string, options: readonly { value: string; text: string }[], chosen: string | undefined) {
  const isKnown = !chosen || options.some(({ value }) => value === chosen);
  return [{ value: '', text: any }, ...options, ...(isKnown ? [] : [{ value: chosen, text: chosen }])];
}

type Draft = Readonly<Record<'entity_id' | 'actor_id' | 'start_date' | 'end_date', string>>;

/** What is typed counts when it is sent. */
function Typed({ use, error, isLive }: FiltersProps) {
  const { search, narrow } = use;
  const { zone } = useTimes();
  const current: Draft = {
    entity_id: search.entity_id ?? '',
    actor_id: search.actor_id ?? '',
    start_date: inputOf(search.start_date, zone),
    end_date: inputOf(search.end_date, zone),
  };
  const [draft, setDraft] = useDraft(current);
  const field = (name: keyof Draft, label: string) => ({
    label,
    name,
    value: draft[name],
    onChange: (event: { readonly target: { readonly value: string } }) =>
      setDraft({ ...draft, [name]: event.target.value }),
    error: secretFault(draft[name]) ?? faultOfField(error, name),
  });
  const inZone = zone === 'utc' ? ' (UTC)' : '';
  const hasDates = !isLive && rangeOf(search) === 'custom';
  /** A date that nobody touched stays what it is: fields know no fractions of seconds. */
  const dateOf = (name: 'start_date' | 'end_date') =>
    draft[name] === current[name] ? search[name] : momentOf(draft[name], zone);
  const isBackwards = hasDates && draft.start_date !== '' && draft.end_date !== '' && draft.start_date > draft.end_date;
  return (
    <Form
      onSubmit={() => {
        if (isBackwards || (secretFault(draft.entity_id) ?? secretFault(draft.actor_id))) return;
        narrow({
          entity_id: draft.entity_id.trim(),
          actor_id: draft.actor_id.trim(),
          ...(hasDates && { start_date: dateOf('start_date'), end_date: dateOf('end_date') }),
        });
      }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        {hasDates && (
          <>
            <Field {...field('start_date', `From${inZone}`)} type="datetime-local" step={1} />
            <Field
              {...field('end_date', `To${inZone}`)}
              {...(isBackwards && { error: 'This is before the time in From.' })}
              type="datetime-local"
              step={1}
            />
          </>
        )}
        <Field {...field('entity_id', FILTER_TEXTS.entity_id)} autoComplete="off" spellCheck={false} />
        <div className="flex items-start gap-3">
          <Field
            {...field('actor_id', FILTER_TEXTS.actor_id)}
            autoComplete="off"
            spellCheck={false}
            className="min-w-0 flex-1"
          />
          <Button type="submit" className="mt-6.5 shrink-0">
            Apply
          </Button>
        </div>
      </div>
    </Form>
  );
}

function secretFault(text: string): string | undefined {
  const secret = notForAddress(text);
  return secret && `This may be ${secret}, which belongs in no address. The log knows ids.`;
}

/** What is being typed, until the address says something else. */
function useDraft(current: Draft) {
  const [draft, setDraft] = useState(current);
  const [seen, setSeen] = useState(current);
  if (JSON.stringify(seen) !== JSON.stringify(current)) {
    setSeen(current);
    setDraft(current);
  }
  return [draft, setDraft] as const;
}

/** What narrows the log now, each to be taken away. */
function Chosen({ use: { search, filter, narrow, narrowTimes, clear } }: { readonly use: LogSearchUse }) {
  const { nameOf } = useEntityTypes();
  const range = rangeOf(search);
  const chosen = FILTERS.flatMap((name) => {
    const value = filter[name];
    if (value === undefined) return [];
    const text = name === 'entity_type' ? nameOf(value) : value;
    return [{ text: `${FILTER_TEXTS[name]}: ${text}`, remove: () => narrow({ [name]: undefined }) }];
  });
  const times = RANGES.find(({ value }) => value === range)?.text ?? (range === 'custom' ? 'Chosen time' : undefined);
  const all = [...chosen, ...(times === undefined ? [] : [{ text: times, remove: () => narrowTimes({}) }])];
  if (all.length === 0) return null;
  return (
    <ul aria-label="Filter in use" className="flex flex-wrap items-center gap-2">
      {all.map(({ text, remove }) => (
        <li key={text} className="min-w-0">
          <button
            type="button"
            aria-label={`Remove ${text}`}
            onClick={remove}
            className="inline-flex max-w-full items-center gap-1.5 rounded-full bg-accent-soft px-3 py-1 text-[13px] text-accent hover:underline"
          >
            <span className="min-w-0 truncate">{text}</span>
            <X aria-hidden className="size-3.5 shrink-0" />
          </button>
        </li>
      ))}
      <li>
        <button
          type="button"
          onClick={clear}
          className="rounded px-2 py-1 text-[13px] text-muted hover:text-ink hover:underline"
        >
          Clear all
        </button>
      </li>
    </ul>
  );
}

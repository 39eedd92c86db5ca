import { Link } from '@tanstack/react-router';
import { ListFilter } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Log } from '../../api/generated.js';
import { pageOfActor, pageOfEntity } from '../../tenant/entity-page.js';
import { useEntityTypes, wordsOf } from '../../tenant/entity-types.js';
import { OutcomeBadge } from '../../tenant/outcome-badge.js';
import { useActorNames } from '../../tenant/use-actor-names.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { Callout } from '../../ui/callout.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Drawer } from '../../ui/drawer.js';
import { Loaded } from '../../ui/loaded.js';
import { When } from '../../ui/when.js';
import type { FilterName, LogSearchUse } from './log-search.js';
import { FILTER_TEXTS, FILTERS } from './log-search.js';
import { useEntry } from './use-entry.js';

export interface EntryDrawerProps {
  readonly use: LogSearchUse;
  /** What the page shows: the entry is mostly among them. */
  readonly entries: readonly Log[];
}

/** All of one entry. Which one is in the address. */
export function EntryDrawer({ use, entries }: EntryDrawerProps) {
  const { search, show } = use;
  const query = useEntry(search.entry, entries);
  return (
    <Drawer
      isOpen={search.entry !== undefined}
      title={query.data?.message ?? 'Log entry'}
      onClose={() => show({ entry: undefined })}
    >
      {search.entry !== undefined && (
        <Loaded query={query}>
          {(entry) =>
            entry === null ? (
              <Callout tone="warn" title="There is no such entry">
                The address may be mistyped, or the entry is older than what this server keeps.
              </Callout>
            ) : (
              <Details entry={entry} use={use} />
            )
          }
        </Loaded>
      )}
    </Drawer>
  );
}

function Details({ entry, use }: { readonly entry: Log; readonly use: LogSearchUse }) {
  const raw = JSON.stringify(entry, null, 2);
  return (
    <>
      <div className="flex flex-wrap gap-2">
        <CopyButton text={location.href} label="Copy link" />
        <CopyButton text={raw} label="Copy JSON" />
      </div>
      <Fields entry={entry} />
      <MoreLikeThis entry={entry} use={use} />
      <section aria-labelledby="raw-entry" className="space-y-2">
        <h3 id="raw-entry" className="text-sm font-semibold">
          As the API tells it
        </h3>
        <pre className="rounded-lg border border-line bg-sunken p-3 font-mono text-xs leading-5 break-all whitespace-pre-wrap">
          {raw}
        </pre>
      </section>
    </>
  );
}

function Fields({ entry }: { readonly entry: Log }) {
  const { nameOf } = useEntityTypes();
  const { id: tenantId } = useTenant();
  const actorName = useActorNames(tenantId, [{ id: entry.actor_id, kind: entry.actor_type }]);
  const name = entry.actor_id && actorName(entry.actor_id);
  const id = (text: string | undefined, to?: string) =>
    text === undefined ? undefined : <Id text={text} {...(to !== undefined && { to: `/tenants/${tenantId}/${to}` })} />;
  const fields: readonly (readonly [string, ReactNode])[] = [
    ['Time', <When key="time" at={entry.created_at} isExact />],
    ['Operation', wordsOf(entry.operation)],
    ['Outcome', <OutcomeBadge key="outcome" outcome={entry.outcome} />],
    ['Type', nameOf(entry.entity_type)],
    ['Entity id', id(entry.entity_id, pageOfEntity(entry))],
    ['Version', entry.entity_version],
    ...(entry.changes ?? []).map(
      ({ field, from, to }) => [wordsOf(field), [from, to].filter((value) => value !== null).join(' → ')] as const,
    ),
    ['By', entry.actor_type === undefined ? 'Strongroom itself' : [wordsOf(entry.actor_type), name].join(' ').trim()],
    ['Actor id', id(entry.actor_id, pageOfActor(entry))],
    ['Address', id(entry.source_address)],
    ['Trace id', id(entry.trace_id)],
    ['Entry id', id(entry.id)],
  ];
  return (
    <dl className="divide-y divide-line rounded-lg border border-line text-sm">
      {fields
        .filter(([, value]) => value !== undefined)
        .map(([title, value]) => (
          <div key={title} className="flex gap-4 px-4 py-2.5">
            <dt className="w-24 shrink-0 text-muted">{title}</dt>
            <dd className="min-w-0 flex-1 break-words">{value}</dd>
          </div>
        ))}
    </dl>
  );
}

function Id({ text, to }: { readonly text: string; readonly to?: string }) {
  const look = 'font-mono text-[13px] break-all';
  if (to === undefined) return <span className={look}>{text}</span>;
  return (
    <Link to={to} className={`${look} rounded text-accent underline underline-offset-4`}>
      {text}
    </Link>
  );
}

/** Adds what the entry says to the filter. */
function MoreLikeThis({ entry, use: { filter, narrow } }: { readonly entry: Log; readonly use: LogSearchUse }) {
  const offered = FILTERS.filter((name) => entry[name] !== undefined && entry[name] !== filter[name]);
  if (offered.length === 0) return null;
  return (
    <section aria-labelledby="more-like-this" className="space-y-2">
      <h3 id="more-like-this" className="text-sm font-semibold">
        More like this
      </h3>
      <div className="flex flex-wrap gap-2">
        {offered.map((name: FilterName) => (
          <Button key={name} onClick={() => narrow({ [name]: entry[name] })}>
            <ListFilter aria-hidden className="size-4" />
            Same {FILTER_TEXTS[name].toLowerCase()}
          </Button>
        ))}
      </div>
    </section>
  );
}

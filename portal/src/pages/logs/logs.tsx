import { Radio, RefreshCw, ScrollText } from 'lucide-react';
import { ApiFault } from '../../api/fault.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { PageHeader } from '../../ui/page-header.js';
import { EntryDrawer } from './entry-drawer.js';
import { ExportButton } from './export-dialog.js';
import { Filters } from './filters.js';
import { Histogram } from './histogram.js';
import { Live } from './live.js';
import type { LogSearchUse } from './log-search.js';
import { FILTERS, useLogSearch } from './log-search.js';
import { LogTable } from './log-table.js';
import type { LogPage } from './use-log-list.js';
import { useLogList } from './use-log-list.js';
import { useOpenEntry } from './use-open-entry.js';

/** Who did what, as it is recorded. */
export function LogsPage() {
  const use = useLogSearch();
  const isLive = use.search.live !== undefined;
  return (
    <>
      <PageHeader
        title="Logs"
        lead="Who did what, and when. Entries hold no token data, and nobody can change them."
        actions={<Acts use={use} isLive={isLive} />}
      />
      {isLive ? (
        <>
          <Filters use={use} error={null} isLive />
          <Live use={use} />
        </>
      ) : (
        <Listed use={use} />
      )}
    </>
  );
}

function Acts({ use, isLive }: { readonly use: LogSearchUse; readonly isLive: boolean }) {
  const { id } = useTenant();
  return (
    <>
      <CopyButton text={location.href} label="Copy link" />
      <ExportButton use={use} />
      {!isLive && (
        <Button onClick={() => reloadTenant(id, 'logs')}>
          <RefreshCw aria-hidden className="size-4" />
          Reload
        </Button>
      )}
      <Button
        look={isLive ? 'plain' : 'primary'}
        onClick={() => (isLive ? use.narrow({ live: undefined }) : use.narrowTimes({ live: '1' }))}
      >
        <Radio aria-hidden className="size-4" />
        {isLive ? 'Leave live view' : 'Live'}
      </Button>
    </>
  );
}

function Listed({ use }: { readonly use: LogSearchUse }) {
  const query = useLogList(use.search, use.filter);
  return (
    <>
      <Filters use={use} error={query.error} isLive={false} />
      <Histogram use={use} />
      <div className={query.isPlaceholderData ? 'space-y-4 opacity-60' : 'space-y-4'}>
        {isInFilter(query.error) ? (
          <EmptyState icon={ScrollText} title="The filter has a mistake">
            Correct what is marked above.
          </EmptyState>
        ) : (
          <Loaded query={query}>{(page) => <Page page={page} use={use} />}</Loaded>
        )}
        {query.error !== null && use.search.start !== undefined && (
          <Button onClick={() => use.narrow({})}>Show the newest</Button>
        )}
        {query.error !== null && <EntryDrawer use={use} entries={[]} />}
      </div>
    </>
  );
}

/** Whether all that is wrong stands at fields of the filter. */
function isInFilter(error: unknown): boolean {
  const fields = [...FILTERS, 'start_date', 'end_date'];
  return error instanceof ApiFault && error.status === 400 && error.besides(fields) === undefined;
}

function Page({ page: { entries, pagination, at }, use }: { readonly page: LogPage; readonly use: LogSearchUse }) {
  const { id } = useTenant();
  const onOpen = useOpenEntry(id, use);
  const { start, entry } = use.search;
  const { next } = pagination;
  return (
    <>
      {entries.length === 0 ? <Nothing use={use} /> : <LogTable entries={entries} openId={entry} onOpen={onOpen} />}
      <nav aria-label="Pages of the log" className="flex justify-between gap-3 empty:hidden">
        {start !== undefined && <Button onClick={() => use.narrow({})}>Newest</Button>}
        {next !== undefined && (
          <Button className="ml-auto" onClick={() => use.show({ start: next, at, entry: undefined })}>
            Older
          </Button>
        )}
      </nav>
      <EntryDrawer use={use} entries={entries} />
    </>
  );
}

function Nothing({ use: { search, filter, clear, narrowTimes } }: { readonly use: LogSearchUse }) {
  const hasTimes = Boolean(search.range || search.start_date || search.end_date);
  if (hasTimes) {
    return (
      <EmptyState
        icon={ScrollText}
        title="Nothing in this time"
        action={<Button onClick={() => narrowTimes({})}>Look at any time</Button>}
      >
        No entry of that time matches. There may be some before or after it.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={ScrollText}
      title="No entry matches"
      {...(Object.keys(filter).length > 0 && { action: <Button onClick={clear}>Clear the filter</Button> })}
    >
      Ids have to be written in full. What Applications and members do from now on appears here.
    </EmptyState>
  );
}

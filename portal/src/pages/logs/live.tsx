import { Link } from '@tanstack/react-router';
import { Pause, Play, Radio } from 'lucide-react';
import type { ReactNode } from 'react';
import { hereForSignIn } from '../../session/way-back.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { Callout } from '../../ui/callout.js';
import { classes } from '../../ui/classes.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Skeleton } from '../../ui/loaded.js';
import { numberText } from '../../ui/numbers.js';
import { EntryDrawer } from './entry-drawer.js';
import { TAIL_ROWS_MAX } from './incoming.js';
import type { LogSearchUse } from './log-search.js';
import { LogTable } from './log-table.js';
import type { Tail, TailView } from './tail.js';
import { rowsOf } from './tail.js';
import type { TailState } from './tail-stream.js';
import { useNewest } from './use-log-list.js';
import { useOpenEntry } from './use-open-entry.js';
import { useTail, useTailView } from './use-tail.js';

const STATES: Readonly<Record<TailState, string>> = {
  connecting: 'Connecting',
  open: 'Live',
  reconnecting: 'Connection lost. Reconnecting, and going on where it stopped',
  too_slow: 'Reconnecting',
  restart: 'Reconnecting',
  signed_out: 'You are signed out. Sign in again to go on',
  no_access: 'You may no longer read this log',
};

/** The log as it grows. */
export function Live({ use }: { readonly use: LogSearchUse }) {
  const tail = useTail(use.filter);
  return tail === undefined ? <Skeleton /> : <Following tail={tail} use={use} />;
}

function Following({ tail, use }: { readonly tail: Tail; readonly use: LogSearchUse }) {
  const { id } = useTenant();
  const view = useTailView(tail);
  const { data: newest } = useNewest(use.filter, view);
  const onOpen = useOpenEntry(id, use);
  const rows = rowsOf(view.entries, newest?.data ?? []);
  return (
    <>
      <StatusLine view={view} tail={tail} />
      {view.gaps > 0 && (
        <Callout tone="warn" title="Some entries may be missing here">
          The server could not go on where the connection stopped. Leave the live view to see all of them.
        </Callout>
      )}
      {rows.length === 0 ? (
        <EmptyState icon={Radio} title="Nothing arrived yet">
          Entries that the filter matches appear here as they are written.
        </EmptyState>
      ) : (
        <LogTable entries={rows} openId={use.search.entry} onOpen={onOpen} />
      )}
      <EntryDrawer use={use} entries={rows} />
    </>
  );
}

function StatusLine({ view, tail }: { readonly view: TailView; readonly tail: Tail }) {
  const { state, isPaused, held, arrived } = view;
  const isOver = state === 'signed_out' || state === 'no_access';
  return (
    <div className="sticky top-16 z-10 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl border border-line bg-card px-5 py-3 text-sm shadow-sm">
      <p role="status" className="flex items-center gap-2.5 font-medium">
        <Dot isAlive={state === 'open' && !isPaused} />
        {state === 'open' && isPaused ? 'Paused' : STATES[state]}
      </p>
      <p className="text-muted tabular-nums">{isPaused ? <Held held={held} /> : `${numberText(arrived)} arrived`}</p>
      <div className="ml-auto flex items-center gap-3">
        <span className="text-[13px] text-muted max-sm:hidden">The newest {TAIL_ROWS_MAX} are kept</span>
        {state === 'signed_out' && (
          <Link to="/sign-in" search={hereForSignIn()} className={buttonClasses('primary')}>
            Sign in
          </Link>
        )}
        {!isOver && (
          <Button onClick={isPaused ? tail.resume : tail.pause}>
            {isPaused ? <Play aria-hidden className="size-4" /> : <Pause aria-hidden className="size-4" />}
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
        )}
      </div>
    </div>
  );
}

function Held({ held }: { readonly held: number }): ReactNode {
  return `${numberText(held)} arrived since`;
}

function Dot({ isAlive }: { readonly isAlive: boolean }) {
  return (
    <span aria-hidden className="relative flex size-2.5">
      {isAlive && (
        <span className="absolute inline-flex size-full animate-ping rounded-full bg-ok opacity-60 motion-reduce:hidden" />
      )}
      <span className={classes('relative inline-flex size-2.5 rounded-full', isAlive ? 'bg-ok' : 'bg-warn')} />
    </span>
  );
}

import { memo } from 'react';
import type { Log } from '../../api/generated.js';
import { useEntityTypes, wordsOf } from '../../tenant/entity-types.js';
import { OutcomeBadge } from '../../tenant/outcome-badge.js';
import { classes } from '../../ui/classes.js';
import { AS } from '../../ui/table-roles.js';
import { When } from '../../ui/when.js';

export interface LogTableProps {
  readonly entries: readonly Log[];
  /** The entry whose details are shown. */
  readonly openId: string | undefined;
  /** Must stay the same function: rows that did not change are not drawn again. */
  readonly onOpen: (entry: Log) => void;
}

const TITLES = ['Time', 'Entry', 'About', 'By'];

/** Entries, newest first. A row opens its details. */
export function LogTable({ entries, openId, onOpen }: LogTableProps) {
  const { nameOf } = useEntityTypes();
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-card">
      <table {...AS.table} aria-label="Log entries" className="w-full table-fixed text-sm max-md:block">
        <colgroup className="max-md:hidden">
          <col className="w-[12.5rem]" />
          <col />
          <col className="w-[27%]" />
          <col className="w-[22%]" />
        </colgroup>
        <thead {...AS.rowgroup} className="max-md:sr-only">
          <tr {...AS.row} className="border-b border-line bg-sunken text-left text-muted">
            {TITLES.map((title) => (
              <th
                key={title}
                {...AS.columnheader}
                scope="col"
                className="px-4 py-2.5 text-[13px] font-medium whitespace-nowrap"
              >
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...AS.rowgroup} className="divide-y divide-line max-md:block">
          {entries.map((entry) => (
            <Row
              key={entry.id}
              entry={entry}
              about={nameOf(entry.entity_type)}
              isOpen={entry.id === openId}
              onOpen={onOpen}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly entry: Log;
  readonly about: string;
  readonly isOpen: boolean;
  readonly onOpen: (entry: Log) => void;
}

const CELL = 'px-4 py-2.5 align-top max-md:py-0.5';

const Row = memo(function Row({ entry, about, isOpen, onOpen }: RowProps) {
  return (
    <tr
      {...AS.row}
      data-entry={entry.id}
      className={classes(
        'relative hover:bg-sunken max-md:flex max-md:flex-col max-md:py-2.5',
        isOpen && 'bg-accent-soft',
      )}
    >
      <td
        {...AS.cell}
        className={classes(CELL, 'whitespace-nowrap text-muted tabular-nums max-md:order-4 max-md:text-[13px]')}
      >
        <When at={entry.created_at} isExact />
      </td>
      <td {...AS.cell} className={classes(CELL, 'max-md:order-1')}>
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <button
            type="button"
            aria-haspopup="dialog"
            onClick={() => onOpen(entry)}
            className="min-w-0 text-left font-medium break-words after:absolute after:inset-0"
          >
            {entry.message}
          </button>
          <Outcome outcome={entry.outcome} />
        </div>
        <span className="text-[13px] text-muted max-md:hidden">{wordsOf(entry.operation)}</span>
      </td>
      <td {...AS.cell} className={classes(CELL, 'max-md:order-2')}>
        <Named kind={about} id={entry.entity_id} />
      </td>
      <td {...AS.cell} className={classes(CELL, 'max-md:order-3')}>
        <Named kind={wordsOf(entry.actor_type ?? 'Strongroom')} id={entry.actor_id} />
      </td>
    </tr>
  );
});

function Named({ kind, id }: { readonly kind: string; readonly id: string | undefined }) {
  return (
    <div className="min-w-0 max-md:flex max-md:items-baseline max-md:gap-2">
      <span className="max-md:shrink-0 max-md:text-[13px] max-md:text-muted">{kind}</span>
      {id !== undefined && (
        <span title={id} className="block min-w-0 truncate font-mono text-xs text-muted">
          {id}
        </span>
      )}
    </div>
  );
}

/** Success is the rule, and says nothing. */
function Outcome({ outcome }: { readonly outcome: Log['outcome'] }) {
  if (outcome === undefined || outcome === 'success') return null;
  return <OutcomeBadge outcome={outcome} />;
}

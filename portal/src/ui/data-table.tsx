import type { ReactNode } from 'react';
import { classes } from './classes.js';
import { AS } from './table-roles.js';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Figures stand at the right. */
  readonly isFigure?: boolean;
  /** Stands alone on narrow screens, without its title. */
  readonly isHead?: boolean;
  /** Buttons: at the right, and their title is only read out. */
  readonly isActs?: boolean;
}

export interface DataTableProps<Row> {
  /** What the rows are, for who cannot see them. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

/**
 * Rows and columns; on narrow screens every row is a card with its titles beside the values.
 */
export function DataTable<Row>({ label, columns, rows, keyOf }: DataTableProps<Row>) {
  return (
    <div className="rounded-xl border border-line bg-card">
      <table {...AS.table} aria-label={label} className="w-full text-sm max-lg:block">
        <thead {...AS.rowgroup} className="max-lg:sr-only">
          <tr {...AS.row} className="border-b border-line bg-sunken text-left text-muted">
            {columns.map(({ title, isFigure, isActs }) => (
              <th
                key={title}
                {...AS.columnheader}
                scope="col"
                className={classes('px-4 py-2.5 text-[13px] font-medium whitespace-nowrap', isFigure && 'text-right')}
              >
                {isActs ? <span className="sr-only">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...AS.rowgroup} className="divide-y divide-line max-lg:block">
          {rows.map((row) => (
            <tr key={keyOf(row)} {...AS.row} className="hover:bg-sunken max-lg:block max-lg:py-3">
              {columns.map((column) => (
                <Cell key={column.title} column={column} row={row} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell<Row>({ column, row }: { readonly column: Column<Row>; readonly row: Row }) {
  return (
    <td
      {...AS.cell}
      className={classes(
        'px-4 py-3 align-middle max-lg:flex max-lg:items-baseline max-lg:justify-between max-lg:gap-4 max-lg:py-1',
        column.isFigure && 'text-right tabular-nums',
      )}
    >
      {!column.isHead && !column.isActs && (
        <span aria-hidden className="shrink-0 text-[13px] text-muted lg:hidden">
          {column.title}
        </span>
      )}
      <div className={classes('min-w-0', column.isActs && 'ml-auto w-fit')}>{column.cell(row)}</div>
    </td>
  );
}

import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { OffsetPagination } from '../api/generated.js';
import { Button } from './button.js';
import { numberText } from './numbers.js';

export interface PagerProps {
  /** What is paged through, in several, such as `Applications`. */
  readonly label: string;
  readonly pagination: OffsetPagination;
  /** With what the address says then; the first page is not named there. */
  readonly onPage: (page: string | undefined) => void;
}

/** How many there are, and the pages beside this one. */
export function Pager({ label, pagination, onPage }: PagerProps) {
  const { total_items: total, page_number: page, total_pages: pages } = pagination;
  const go = (to: number) => onPage(to === 1 ? undefined : String(to));
  return (
    <nav aria-label={`Pages of ${label}`} className="flex flex-wrap items-center justify-between gap-3">
      <p className="text-sm text-muted tabular-nums">
        {numberText(total)} {label}
        {pages > 1 && `, page ${numberText(page)} of ${numberText(pages)}`}
      </p>
      {(pages > 1 || page > 1) && (
        <div className="flex gap-2">
          <Button disabled={page <= 1} onClick={() => go(Math.max(1, Math.min(page - 1, pages)))}>
            <ChevronLeft aria-hidden className="size-4" />
            Previous
          </Button>
          <Button disabled={page >= pages} onClick={() => go(page + 1)}>
            Next
            <ChevronRight aria-hidden className="size-4" />
          </Button>
        </div>
      )}
    </nav>
  );
}

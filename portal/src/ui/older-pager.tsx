import { ChevronRight, ChevronsLeft } from 'lucide-react';
import { Button } from './button.js';

export interface OlderPagerProps {
  readonly label: string;
  /** Whether these are the newest. */
  readonly isFirst: boolean;
  /** The cursor of what is older; none at the end. */
  readonly next: string | undefined;
  /** Undefined goes back to the newest. */
  readonly onGo: (cursor: string | undefined) => void;
}

/** Through a list that is as long as it is: on to what is older, and back to the newest. */
export function OlderPager({ label, isFirst, next, onGo }: OlderPagerProps) {
  if (isFirst && next === undefined) return null;
  return (
    <nav aria-label={`Pages of ${label}`} className="flex justify-end gap-2">
      <Button disabled={isFirst} onClick={() => onGo(undefined)}>
        <ChevronsLeft aria-hidden className="size-4" />
        Newest
      </Button>
      <Button disabled={next === undefined} onClick={() => onGo(next)}>
        Older
        <ChevronRight aria-hidden className="size-4" />
      </Button>
    </nav>
  );
}

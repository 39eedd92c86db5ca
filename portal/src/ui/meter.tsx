import { classes } from './classes.js';
import { numberText } from './numbers.js';

export interface MeterProps {
  readonly label: string;
  readonly value: number;
  readonly most: number;
}

/** How much of something is used up. The words beside it say the same. */
export function Meter({ label, value, most }: MeterProps) {
  const share = most === 0 ? Number(value > 0) : value / most;
  return (
    <div>
      <div className="h-2 overflow-hidden rounded-full bg-line">
        <div
          className={classes('h-full rounded-full', share > 1 ? 'bg-warn' : 'bg-accent')}
          style={{ width: `${Math.min(100, value > 0 ? Math.max(1, share * 100) : 0)}%` }}
        />
      </div>
      <meter className="sr-only" aria-label={label} min={0} max={Math.max(most, value, 1)} value={value}>
        {numberText(value)} of {numberText(most)}
      </meter>
    </div>
  );
}

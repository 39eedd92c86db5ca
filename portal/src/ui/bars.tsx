import type { KeyboardEvent, MouseEvent, PointerEvent } from 'react';
import { useId, useState } from 'react';
import { BarsTable, barText, ceilingOf, stackOf } from './bars-figures.js';
import { classes } from './classes.js';
import { numberText, shortNumber } from './numbers.js';

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

export interface BarsProps {
  /** What is counted, for who cannot see the picture. */
  readonly label: string;
  /** What each bar stands for, in order. */
  readonly times: readonly string[];
  /** At most six. */
  readonly series: readonly Series[];
  readonly height?: number;
  /** Whether a legend stands below. It does where there are several series, unless the page has one of its own. */
  readonly hasLegend?: boolean;
  /** Bars that may be higher in truth: they are paler, and say so. */
  readonly isAtLeast?: (at: number) => boolean;
  /** Opens what a bar stands for. */
  readonly onPick?: (at: number) => void;
  /** What that does, such as "Enter shows the log of the day". */
  readonly pickHint?: string;
}

const FILLS = ['fill-series-1', 'fill-series-2', 'fill-series-3', 'fill-series-4', 'fill-series-5', 'fill-series-6'];
const GROUNDS = ['bg-series-1', 'bg-series-2', 'bg-series-3', 'bg-series-4', 'bg-series-5', 'bg-series-6'];
const WIDTH = 720;
const GAP = 0.24;
/** Bars that stand alone must not become walls. */
const BAR_WIDTH_MAX = 56;

/** The colour of a series, for a legend. */
export function Swatch({ place }: { readonly place: number }) {
  return <span aria-hidden className={`size-2.5 shrink-0 rounded-sm ${GROUNDS[place % GROUNDS.length]}`} />;
}

/** Bars over time, one part for each series, with the same figures in a table for who reads instead of looking. */
export function Bars(props: BarsProps) {
  const { label, times, series, height = 160, hasLegend = series.length > 1 } = props;
  const id = useId();
  const [pointed, point] = useState<number>();
  const totals = times.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const most = ceilingOf(Math.max(1, ...totals));
  return (
    <figure aria-labelledby={id} className="space-y-3">
      <figcaption id={id} className="sr-only">
        {label}
      </figcaption>
      <BarsTable {...props} />
      <div className="flex items-stretch gap-2">
        <p aria-hidden className="flex min-w-6 flex-col justify-between text-right text-xs text-muted tabular-nums">
          <span className="-translate-y-1/2">{shortNumber(most)}</span>
          {most % 2 === 0 && <span>{shortNumber(most / 2)}</span>}
          <span className="translate-y-1/2">0</span>
        </p>
        <div
          className="relative min-w-0 flex-1 rounded has-focus-visible:outline-2 has-focus-visible:outline-offset-4 has-focus-visible:outline-accent"
          style={{ height }}
        >
          <Picture {...props} most={most} height={height} pointed={pointed} />
          <Pointer {...props} pointed={pointed} point={point} />
          {pointed !== undefined && pointed < times.length && <Tip {...props} at={pointed} />}
        </div>
      </div>
      <Axis times={times} />
      {hasLegend && (
        <ul aria-hidden className="flex flex-wrap gap-x-4 gap-y-1 pl-8 text-[13px] text-muted">
          {series.map(({ name }, at) => (
            <li key={name} className="flex items-center gap-1.5">
              <Swatch place={at} />
              {name}
            </li>
          ))}
        </ul>
      )}
    </figure>
  );
}

interface PictureProps extends BarsProps {
  readonly most: number;
  readonly height: number;
  readonly pointed: number | undefined;
}

function Picture({ times, series, isAtLeast, most, height, pointed }: PictureProps) {
  const step = WIDTH / Math.max(1, times.length);
  const width = Math.min(step * (1 - GAP), BAR_WIDTH_MAX);
  return (
    <svg
      aria-hidden
      viewBox={`0 0 ${WIDTH} ${height}`}
      preserveAspectRatio="none"
      className="absolute inset-0 size-full border-b border-line-strong"
    >
      {[0, height / 2].map((y) => (
        <rect key={y} x={0} y={y} width={WIDTH} height={1} className="fill-line" />
      ))}
      {times.map((time, at) => (
        <g key={time} className={classes(isAtLeast?.(at) && 'opacity-50')}>
          {pointed === at && <rect x={at * step} y={0} width={step} height={height} className="fill-line" />}
          {stackOf(series, at).map(({ name, from, value, place }) => (
            <rect
              key={name}
              x={at * step + (step - width) / 2}
              width={width}
              y={height - ((from + value) / most) * height}
              height={Math.max(value > 0 ? 1 : 0, (value / most) * height)}
              className={FILLS[place % FILLS.length]}
            />
          ))}
        </g>
      ))}
    </svg>
  );
}

interface PointerProps extends BarsProps {
  readonly pointed: number | undefined;
  readonly point: (at: number | undefined) => void;
}

/**
 * Lies over the picture and knows which bar is meant. Where bars open something it is a slider: one stop on the way of the keyboard
 * for all of them, and a target as large as the picture, however thin they are.
 */
function Pointer({ label, times, series, isAtLeast, onPick, pickHint, pointed, point }: PointerProps) {
  const placeOf = (event: MouseEvent) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const at = Math.floor(((event.clientX - left) / width) * times.length);
    return Math.min(Math.max(at, 0), times.length - 1);
  };
  const overs = {
    onPointerMove: (event: PointerEvent) => point(placeOf(event)),
    onPointerLeave: () => point(undefined),
    className: 'absolute inset-0 size-full opacity-0',
  };
  if (onPick === undefined || times.length === 0) return <div aria-hidden {...overs} />;
  const at = Math.min(pointed ?? times.length - 1, times.length - 1);
  return (
    <input
      {...overs}
      type="range"
      min={0}
      max={times.length - 1}
      value={at}
      aria-label={pickHint === undefined ? label : `${label}. ${pickHint}`}
      aria-valuetext={barText(times, series, at, isAtLeast?.(at))}
      onFocus={() => point(at)}
      onBlur={() => point(undefined)}
      onChange={(event) => point(Number(event.target.value))}
      onKeyDown={(event: KeyboardEvent) => event.key === 'Enter' && onPick(at)}
      onClick={(event) => onPick(placeOf(event))}
      className={`${overs.className} cursor-pointer`}
    />
  );
}

function Tip({ times, series, isAtLeast, at }: BarsProps & { readonly at: number }) {
  const parts = series.map((each, place) => ({ ...each, place, value: each.values[at] ?? 0 }));
  const shown = series.length === 1 ? parts : parts.filter(({ value }) => value > 0);
  const isLeft = at < times.length / 2;
  const middle = ((at + 0.5) / times.length) * 100;
  return (
    <div
      aria-hidden
      style={isLeft ? { left: `${middle}%` } : { right: `${100 - middle}%` }}
      className="pointer-events-none absolute top-2 z-10 mx-3 max-w-56 rounded-lg border border-line bg-card px-3 py-2 text-xs shadow-lg"
    >
      <p className="font-medium whitespace-nowrap">{times[at]}</p>
      {shown.map(({ name, value, place }) => (
        <p key={name} className="mt-1 flex items-center gap-1.5 text-muted">
          {series.length > 1 && <Swatch place={place} />}
          <span className="min-w-0 flex-1 truncate">{name}</span>
          <span className="pl-3 text-ink tabular-nums">
            {isAtLeast?.(at) && 'at least '}
            {numberText(value)}
          </span>
        </p>
      ))}
      {shown.length === 0 && <p className="mt-1 text-muted">Nothing</p>}
    </div>
  );
}

/** As many times as there is room for. */
function Axis({ times }: { readonly times: readonly string[] }) {
  const last = times.length - 1;
  const places = [...new Set(last > 3 ? [0, Math.round(last / 2), last] : times.keys())];
  return (
    <p
      aria-hidden
      className={classes(
        'flex gap-2 pl-8 text-xs text-muted',
        places.length < 3 || last <= 3 ? 'justify-around' : 'justify-between',
      )}
    >
      {places.map((at) => (
        <span key={at} className="truncate">
          {times[at]}
        </span>
      ))}
    </p>
  );
}

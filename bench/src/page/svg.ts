import type { Axis, Plot, Series } from './plot.js';
import type { Scale } from './scale.js';
import { linearScale, logScale, nameScale } from './scale.js';

const WIDTH = 760;
const LEFT = 72;
const RIGHT = 20;
const TOP = 46;
const PLOT_HEIGHT = 300;
const BOTTOM = 52;
const LEGEND_ROW = 20;
const LEGEND_COLUMNS = 3;
const CAP = 4;
/** Apart from each other for most eyes, and readable on white and on black. */
const COLOURS = ['#3b82c4', '#d9822b', '#3f9c5a', '#b455a8', '#c9483c', '#7a8b2f', '#2fa3a3', '#8d7ae0'] as const;

/** Text follows the reader's choice of light or dark; the ground is left to the page. */
const STYLE = `
    text { font: 12px system-ui, sans-serif; fill: #3d444d }
    .title { font-size: 15px; font-weight: 600 }
    .grid { stroke: #d8dee4; stroke-width: 1 }
    .axis { stroke: #818b98; stroke-width: 1 }
    @media (prefers-color-scheme: dark) {
      text { fill: #c9d1d9 }
      .grid { stroke: #30363d }
      .axis { stroke: #8b949e }
    }`;

export function drawPlot(plot: Plot): string {
  const points = plot.series.flatMap((series) => series.points);
  const x = scaleOf(
    plot.x,
    points.map((point) => point.x),
  );
  const y = scaleOf(
    plot.y,
    points.flatMap(({ low, high }) => [low, high]),
  );
  const legendRows = Math.ceil(plot.series.length / LEGEND_COLUMNS);
  const height = TOP + PLOT_HEIGHT + BOTTOM + legendRows * LEGEND_ROW + 8;
  const place: Placing = {
    x: (value) => LEFT + x.place(value) * (WIDTH - LEFT - RIGHT),
    y: (value) => TOP + (1 - y.place(value)) * PLOT_HEIGHT,
  };
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" role="img" aria-label="${escaped(plot.title)}">
  <style>${STYLE}
  </style>
  <text class="title" x="${LEFT}" y="24">${escaped(plot.title)}</text>
${[...axes(plot, x, y, place), ...plot.series.map((series, n) => drawSeries(series, colourOf(n), place)), ...plot.series.map(legend)].join('\n')}
</svg>
`;
}

interface Placing {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

function scaleOf(axis: Axis, values: readonly number[]): Scale {
  if (axis.scale === 'names') return nameScale(axis.names ?? []);
  return axis.scale === 'log' ? logScale(values) : linearScale(values);
}

function axes(plot: Plot, x: Scale, y: Scale, place: Placing): string[] {
  const bottom = TOP + PLOT_HEIGHT;
  const middle = LEFT + (WIDTH - LEFT - RIGHT) / 2;
  return [
    ...y.ticks.flatMap(({ value, label }) => [
      line('grid', LEFT, place.y(value), WIDTH - RIGHT, place.y(value)),
      `  <text x="${LEFT - 8}" y="${shown(place.y(value) + 4)}" text-anchor="end">${escaped(label)}</text>`,
    ]),
    ...x.ticks.flatMap(({ value, label }) => [
      line('grid', place.x(value), TOP, place.x(value), bottom),
      `  <text x="${shown(place.x(value))}" y="${bottom + 18}" text-anchor="middle">${escaped(label)}</text>`,
    ]),
    line('axis', LEFT, TOP, LEFT, bottom),
    line('axis', LEFT, bottom, WIDTH - RIGHT, bottom),
    `  <text x="${middle}" y="${bottom + 38}" text-anchor="middle">${escaped(plot.x.label)}</text>`,
    `  <text x="${LEFT}" y="${TOP - 8}">${escaped(plot.y.label)}</text>`,
  ];
}

function drawSeries({ points, isLine = false }: Series, colour: string, place: Placing): string {
  const path = points.map(({ x, y }) => `${shown(place.x(x))},${shown(place.y(y))}`).join(' ');
  const marks = isLine
    ? []
    : points.map(({ x, y, low, high }) => {
        const [at, from, to] = [place.x(x), place.y(low), place.y(high)];
        const bar = `M${shown(at)} ${shown(from)}V${shown(to)}`;
        const caps = [from, to].map((end) => `M${shown(at - CAP)} ${shown(end)}h${2 * CAP}`).join('');
        return `<path d="${bar}${caps}"/><circle cx="${shown(at)}" cy="${shown(place.y(y))}" r="3.5" fill="${colour}"/>`;
      });
  return `  <g stroke="${colour}" fill="none" stroke-width="1.8"><polyline points="${path}"/>${marks.join('')}</g>`;
}

function legend({ name }: Series, n: number): string {
  const x = LEFT + (n % LEGEND_COLUMNS) * ((WIDTH - LEFT - RIGHT) / LEGEND_COLUMNS);
  const y = TOP + PLOT_HEIGHT + BOTTOM + Math.floor(n / LEGEND_COLUMNS) * LEGEND_ROW + 8;
  return `  <rect x="${shown(x)}" y="${y - 10}" width="12" height="12" rx="2" fill="${colourOf(n)}"/><text x="${shown(x + 18)}" y="${y}">${escaped(name)}</text>`;
}

function colourOf(n: number): string {
  return COLOURS[n % COLOURS.length] ?? COLOURS[0];
}

function line(name: string, x1: number, y1: number, x2: number, y2: number): string {
  return `  <line class="${name}" x1="${shown(x1)}" y1="${shown(y1)}" x2="${shown(x2)}" y2="${shown(y2)}"/>`;
}

function shown(value: number): string {
  return String(Number(value.toFixed(1)));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** A picture as data: what to draw, not how. */
export interface Plot {
  /** Name of its file, without the ending. */
  readonly name: string;
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
}

export interface Axis {
  readonly label: string;
  readonly scale: 'log' | 'linear' | 'names';
  /** For `names`: what stands at 0, 1, 2. */
  readonly names?: readonly string[];
}

export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
  /** Points with spread bars unless it is one value a second, which is a plain line. */
  readonly isLine?: boolean;
}

export interface Point {
  readonly x: number;
  readonly y: number;
  readonly low: number;
  readonly high: number;
}

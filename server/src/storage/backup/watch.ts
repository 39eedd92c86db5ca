/** Observes the copying of rows, in either direction. */
export interface Watch {
  /** Rows so far, and how many there are, or about how many. */
  readonly onProgress: (rows: number, total: number) => void;
  readonly shouldStop: () => boolean;
}

/** Thrown out of the middle: nothing of it is kept. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** Counts rows as they pass, and ends the copy where that is asked for. */
export function createRowCounter({ onProgress, shouldStop }: Watch, total: number): (more: number) => void {
  let rows = 0;
  return (more) => {
    if (shouldStop()) throw new Stopped();
    rows += more;
    onProgress(rows, total);
  };
}

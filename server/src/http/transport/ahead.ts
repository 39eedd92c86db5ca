/**
 * What streams may write beyond the mark at which their connection has enough, all together. With it the pieces of one turn leave in one
 * write; without a bound over all, clients that do not read would each keep that much.
 */
const AHEAD_BYTES_MAX = 4_194_304;
/** The same for one of them. */
const AHEAD_OF_ONE_BYTES_MAX = 131_072;

/** What one stream has written and its client has not taken. */
export interface AheadShare {
  /** So much is there now. True where the stream may write on though its connection has enough. */
  mayWriteOn(unsentBytes: number): boolean;
  /** All was taken, or the stream is over. */
  release(): void;
}

/** Opens a share for each stream. */
export type Ahead = () => AheadShare;

export function createAhead(): Ahead {
  let all = 0;
  return () => {
    let own = 0;
    const note = (bytes: number): void => {
      all += bytes - own;
      own = bytes;
    };
    return {
      mayWriteOn(unsentBytes) {
        note(unsentBytes);
        return unsentBytes < AHEAD_OF_ONE_BYTES_MAX && all < AHEAD_BYTES_MAX;
      },
      release: () => note(0),
    };
  };
}

/** Where pieces go. */
export interface PieceSink {
  /** False when no more should come for now. */
  write(piece: Buffer): boolean;
  /** Calls back once, when more may come. */
  onRoom(goOn: () => void): void;
}

/**
 * Hands all of its pieces on as they come, which takes far less time than being asked for each. Resolves behind the last one;
 * can be called once. Whoever starts it must be able to end it by other means.
 */
export type Flow = (sink: PieceSink) => Promise<void>;

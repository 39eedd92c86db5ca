/** What passes through the process in pieces: as much as anybody sends, and none of it is needed for longer than a moment. */
export interface PassedBytes {
  note(bytes: number): void;
}

/**
 * The engine counts what objects take and looks for those that are gone when that is much. The bytes of a piece lie beside its object,
 * which is small, so that 32 MB of pieces lie about before it looks: that much more memory, and each piece in memory that
 * the processor has long forgotten.
 */
const BYTES_MAX = 8_388_608;

export function createPassedBytes(collect: (() => void) | undefined): PassedBytes {
  let bytesSince = 0;
  return {
    note(bytes) {
      bytesSince += bytes;
      if (bytesSince < BYTES_MAX) return;
      bytesSince = 0;
      collect?.();
    },
  };
}

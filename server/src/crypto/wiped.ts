/** Uses bytes and wipes them afterwards, even on failure. The result must not be a view of these bytes. */
export function withWiped<T>(bytes: Buffer, use: (bytes: Buffer) => T): T {
  try {
    return use(bytes);
  } finally {
    bytes.fill(0);
  }
}

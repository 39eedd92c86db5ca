/** Uses bytes of ours and wipes them, whatever comes of it. Nothing of what they held may be given back as a view of them. */
export function withWiped<T>(bytes: Buffer, use: (bytes: Buffer) => T): T {
  try {
    return use(bytes);
  } finally {
    bytes.fill(0);
  }
}

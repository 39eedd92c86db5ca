/** For what cannot happen. A failure ends the request with a bare 500 and a loud log line. */
export function assert(claim: unknown, story: string): asserts claim {
  if (!claim) throw new Error(`assertion failed: ${story}`);
}

/** Closes a switch over a union: adding a member without a case stops compiling here. */
export function unreachable(value: never): never {
  throw new Error(`assertion failed: unexpected ${String(value)}`);
}

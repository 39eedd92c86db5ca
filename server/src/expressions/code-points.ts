/** Where the first `count` characters end. An astral character is one character and two units of the text. */
export function endOfFirst(text: string, count: number): number {
  let at = 0;
  for (let passed = 0; passed < count && at < text.length; passed += 1) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
}

/** Where the last `count` characters begin; 0 if there are no more than that. */
export function startOfLast(text: string, count: number): number {
  let at = text.length;
  for (let passed = 0; passed < count && at > 0; passed += 1) {
    at -= at > 1 && (text.codePointAt(at - 2) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
}

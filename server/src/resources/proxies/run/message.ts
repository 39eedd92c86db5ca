export function hasBody(rawHeaders: readonly string[]): boolean {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const lower = (rawHeaders[at] ?? '').toLowerCase();
    if (lower === 'transfer-encoding' || (lower === 'content-length' && Number(rawHeaders[at + 1]) > 0)) return true;
  }
  return false;
}

/** What a browser says of how it will use the answer; undefined where it says nothing. */
export function fetchHeaders(rawHeaders: readonly string[]): Record<string, string> | undefined {
  let found: Record<string, string> | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const lower = (rawHeaders[at] ?? '').toLowerCase();
    if (!lower.startsWith('sec-fetch-')) continue;
    found ??= {};
    found[lower] = rawHeaders[at + 1] ?? '';
  }
  return found;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

export function isText(body: Buffer): boolean {
  try {
    UTF8.decode(body);
    return true;
  } catch {
    return false;
  }
}

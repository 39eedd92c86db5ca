import type { HeaderPairs } from '../../../outbound/message-headers.js';

export function headerValue(headers: HeaderPairs, wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
}

export function hasBody(rawHeaders: readonly string[]): boolean {
  return rawHeaders.some((name, at) => {
    if (at % 2 !== 0) return false;
    const lower = name.toLowerCase();
    return lower === 'transfer-encoding' || (lower === 'content-length' && Number(rawHeaders[at + 1]) > 0);
  });
}

/** What a browser says of how it will use the answer. */
export function fetchHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const lower = (rawHeaders[at] ?? '').toLowerCase();
    if (lower.startsWith('sec-fetch-')) found[lower] = rawHeaders[at + 1] ?? '';
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

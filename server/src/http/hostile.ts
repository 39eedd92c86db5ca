import type { IncomingMessage } from 'node:http';
import { AppError } from '../kernel/errors.js';

/**
 * What Node's parser lets through and this service does not: two Host headers or two keys (whose value would be a
 * guess), no Host at all, a whole address as the target, and odd expectations.
 */
export function createHostileCheck(singleHeaders: readonly string[]): (request: IncomingMessage) => void {
  const singles = new Set(['host', 'content-type', ...singleHeaders]);
  const lengths = new Set([...singles].map((name) => name.length));

  return (request) => {
    const raw = request.rawHeaders;
    let seen: string[] | undefined;
    for (let index = 0; index < raw.length; index += 2) {
      const name = raw[index] ?? '';
      if (!lengths.has(name.length)) continue;
      const lower = name.toLowerCase();
      if (!singles.has(lower)) continue;
      if (seen?.includes(lower)) throw malformed(`The header ${lower} was sent more than once. Send it once.`);
      seen = seen ?? [];
      seen.push(lower);
    }
    if (request.headers.host === undefined) throw malformed('The Host header is missing.');
    if (request.url?.charCodeAt(0) !== 0x2f)
      throw malformed('The request target must be a path that begins with a slash.');
    const expectation = request.headers.expect;
    if (expectation !== undefined && expectation.toLowerCase() !== '100-continue') {
      throw malformed('The Expect header may only say 100-continue.');
    }
  };
}

function malformed(detail: string): AppError {
  return new AppError('malformed_request', detail);
}

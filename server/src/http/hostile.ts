import type { IncomingMessage } from 'node:http';
import { AppError } from '../kernel/errors.js';
import type { OwnHeaders } from './own-headers.js';

/**
 * What Node's parser lets through and this service does not: two Host headers or two keys (whose value would be a
 * guess), no Host at all, a whole address as the target, and odd expectations.
 */
export function refuseHostile(request: IncomingMessage, headers: OwnHeaders): void {
  if (headers.repeated !== undefined) {
    throw malformed(`The header ${headers.repeated} was sent more than once. Send it once.`);
  }
  if (!headers.hasHost) throw malformed('The Host header is missing.');
  if (request.url?.charCodeAt(0) !== 0x2f) {
    throw malformed('The request target must be a path that begins with a slash.');
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    throw malformed('The Expect header may only say 100-continue.');
  }
}

function malformed(detail: string): AppError {
  return new AppError('malformed_request', detail);
}

import type { IncomingMessage } from 'node:http';
import { AppError } from '../../kernel/errors.js';
import type { OwnHeaders } from './own-headers.js';
import { isProbe } from './probe-paths.js';

export const HEADER_BYTES_MAX = 16_384;

/**
 * What Node's parser lets through and this service does not: two Host headers or two keys (whose value would be a
 * guess), no Host at all, a target on another host, odd expectations, an encoding nobody here undoes, and a block
 * of tiny headers whose separators the parser does not count.
 */
export function refuseHostile(request: IncomingMessage, headers: OwnHeaders): void {
  if (headers.bytes > HEADER_BYTES_MAX) throw new AppError('headers_too_large', 'The headers are larger than 16 KB.');
  if (headers.repeated !== undefined) {
    throw malformed(`The header ${headers.repeated} was sent more than once. Send it once.`);
  }
  if (!headers.hasHost && !isSimpleProbe(request)) throw malformed('The Host header is missing.');
  if (request.url?.charCodeAt(0) !== 0x2f && !(request.method === 'OPTIONS' && request.url === '*')) {
    throw malformed(
      'The request target must be a path that begins with a slash, or an address with the host of the Host header.',
    );
  }
  if (headers.transferEncoding !== undefined && headers.transferEncoding.toLowerCase() !== 'chunked') {
    throw malformed('The Transfer-Encoding may only be chunked.');
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    throw malformed('The Expect header may only say 100-continue.');
  }
}

/** Balancers probe in HTTP/1.0, which knows no Host header. */
function isSimpleProbe({ httpVersionMajor, httpVersionMinor, url = '' }: IncomingMessage): boolean {
  const [path = ''] = url.split('?', 1);
  return httpVersionMajor === 1 && httpVersionMinor === 0 && isProbe(path);
}

function malformed(detail: string): AppError {
  // Nothing that follows on this connection can be trusted either.
  return new AppError('malformed_request', detail, { headers: { Connection: 'close' } });
}

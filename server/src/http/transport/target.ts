import type { IncomingMessage } from 'node:http';

/** What a request asks for. */
export interface Target {
  readonly pathname: string;
  readonly rawQuery: string;
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/is;
const SLASH = 0x2f;

/**
 * The target of a request. A whole address, as clients write it to a proxy, is taken for its path where it names the same
 * host as the Host header; the request goes on as if it had come without. Anything else stays for the gate to refuse.
 */
export function readTarget(request: IncomingMessage): Target {
  const { url = '/' } = request;
  if (url.charCodeAt(0) !== SLASH) request.url = withoutHost(request, url);
  return split(request.url ?? '/');
}

function withoutHost({ headers }: IncomingMessage, url: string): string {
  const [, authority = '', rest = ''] = ABSOLUTE.exec(url) ?? [];
  if (authority === '' || authority.toLowerCase() !== headers.host?.toLowerCase()) return url;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function split(url: string): Target {
  const end = url.indexOf('?');
  if (end === -1) return { pathname: url, rawQuery: '' };
  return { pathname: url.slice(0, end), rawQuery: url.slice(end + 1) };
}

import { isLoopback } from '../kernel/loopback.js';
import { parseUrl } from '../kernel/parse-url.js';

/** What the address of an SMTP server says. */
export interface SmtpTarget {
  readonly host: string;
  readonly port: number;
  /**
   * - `tls`: from the first byte (`smtps://`).
   * - `starttls`: the server has to offer it, or nothing is sent.
   * - `plain`: on this machine alone.
   */
  readonly way: 'tls' | 'starttls' | 'plain';
  readonly login: { readonly user: string; readonly password: string } | undefined;
}

const PORTS: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 };

/** Undefined for what is no such address. Options in it are refused: one of them would turn the check of certificates off. */
export function parseSmtpUrl(text: string): SmtpTarget | undefined {
  const url = parseUrl(text);
  const preset = PORTS[url?.protocol ?? ''];
  if (url === undefined || preset === undefined || url.hostname === '') return undefined;
  if (url.search !== '' || url.hash !== '' || !['', '/'].includes(url.pathname)) return undefined;
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user === undefined || password === undefined || (user === '') !== (password === '')) return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const plainWay = isLoopback(host) ? 'plain' : 'starttls';
  return {
    host,
    port: url.port === '' ? preset : Number(url.port),
    way: url.protocol === 'smtps:' ? 'tls' : plainWay,
    login: user === '' ? undefined : { user, password },
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

import { isIPv6 } from 'node:net';
import { Secret } from '../kernel/secret.js';

/** Which servers of an address will do. */
export type SessionAttrs = 'any' | 'read-write' | 'primary';

export type TlsMode = 'disable' | 'require' | 'verify-ca' | 'verify-full';

export interface Host {
  /** A name, an IP address, or the folder of a unix socket, which begins with a slash. */
  readonly host: string;
  readonly port: number;
}

export interface TlsFiles {
  readonly mode: TlsMode;
  /** Files; undefined where none is named, and then the authorities the runtime trusts are asked. */
  readonly rootCertFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
}

/** Where a PostgreSQL server is and who signs in, as the driver must be told it piece by piece. */
export interface Address {
  readonly hosts: readonly [Host, ...Host[]];
  readonly user: string;
  readonly password: Secret<string> | undefined;
  readonly database: string;
  /** Undefined where the address leaves it to us. */
  readonly sessionAttrs: SessionAttrs | undefined;
  readonly tls: TlsFiles;
  readonly applicationName: string | undefined;
  readonly connectTimeoutMs: number | undefined;
}

const SESSION_ATTRS = ['any', 'read-write', 'primary'] as const;
const TLS_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
const PARAMETERS = new Set([
  'host',
  'port',
  'target_session_attrs',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'application_name',
  'connect_timeout',
]);
const DEFAULT_PORT = 5432;
const HOSTS_MAX = 16;
const TEXT_MAX = 4_096;
const PRINTABLE_NAME = /^[a-z][a-z0-9_]{0,40}$/i;
const HOST_NAME = /^[a-z0-9_]([a-z0-9._-]{0,252})$/i;
const SYSTEM_AUTHORITIES = 'system';

/**
 * Reads an address as libpq would, several hosts included. Throws a sentence that goes on after the name of the setting,
 * and repeats nothing of the address but the name of a parameter.
 */
export function parseAddress(text: string): Address {
  const match = /^postgres(?:ql)?:\/\/(?:([^/?]*)@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(text);
  if (!match || text.length > TEXT_MAX || /[\s\0]/.test(text)) {
    throw new Error('must be an address such as postgres://user:password@host:5432/strongroom.');
  }
  const [, login = '', authority = '', path = '', query = ''] = match;
  // A question mark in a password that was not encoded: what follows is no parameter, and must not be shown as one.
  if (query.includes('@')) throw new Error('must have the marks ? / # % @ of a login or a parameter percent-encoded.');
  const [user = '', ...words] = login.split(':');
  const authorities = authority.split(',').map(splitAuthority);
  const parameters = parseQuery(query);
  if (user === '') throw new Error('must name a login: postgres://user:password@host:5432/strongroom.');
  return {
    hosts: hostsOf(authorities, parameters),
    user: decode(user),
    password: words.length === 0 ? undefined : new Secret(decode(words.join(':'))),
    database: path === '' ? decode(user) : decode(path),
    sessionAttrs: oneOf(parameters, 'target_session_attrs', SESSION_ATTRS),
    tls: tlsOf(parameters),
    applicationName: parameters.get('application_name'),
    connectTimeoutMs: connectTimeoutOf(parameters),
  };
}

/** With several hosts the one that takes changes is meant, with one host that one. */
export function sessionAttrsOf(address: Address): SessionAttrs {
  return address.sessionAttrs ?? (address.hosts.length > 1 ? 'read-write' : 'any');
}

/** As an operator may see it: without login and parameters. */
export function hostText({ host, port }: Host): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function splitAuthority(text: string): { host: string; port: string } {
  const match = /^(\[[^\]]*\]|[^:[\]]*)(?::([^:]*))?$/.exec(text);
  if (!match) throw new Error('must name its hosts as host:port, an IPv6 address in brackets.');
  const [, host = '', port = ''] = match;
  return { host: decode(host.replace(/^\[|\]$/g, '')), port };
}

function hostsOf(
  authorities: readonly { host: string; port: string }[],
  parameters: ReadonlyMap<string, string>,
): readonly [Host, ...Host[]] {
  const names = parameters.get('host')?.split(',') ?? authorities.map(({ host }) => host);
  const ports = parameters.get('port')?.split(',') ?? authorities.map(({ port }) => port);
  if (ports.length !== 1 && ports.length !== names.length) throw new Error('must have one port, or one for each host.');
  if (names.length > HOSTS_MAX) throw new Error(`must have at most ${HOSTS_MAX} hosts.`);
  const [first, ...others] = names.map((name, index) => ({
    host: checkedHost(name),
    port: checkedPort(ports[ports.length === 1 ? 0 : index] ?? ''),
  }));
  if (first === undefined) throw new Error('must name a host.');
  return [first, ...others];
}

function checkedHost(name: string): string {
  if (name === '') throw new Error('must name a host.');
  if (!name.startsWith('/') && !isIPv6(name) && !HOST_NAME.test(name)) {
    throw new Error('must have hosts that are a name, an IP address or the folder of a unix socket.');
  }
  return name;
}

function checkedPort(text: string): number {
  if (text === '') return DEFAULT_PORT;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535) {
    throw new Error('must have ports from 1 to 65535. A password with special marks must have them percent-encoded.');
  }
  return port;
}

function parseQuery(query: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const at = pair.indexOf('=');
    const name = decode(at === -1 ? pair : pair.slice(0, at));
    if (!PARAMETERS.has(name)) {
      const shown = PRINTABLE_NAME.test(name) ? `the parameter ${name}` : 'a parameter';
      throw new Error(`has ${shown}, which is not known here. Known are ${[...PARAMETERS].join(', ')}.`);
    }
    if (parameters.has(name)) throw new Error(`has the parameter ${name} twice. Keep one.`);
    const value = at === -1 ? '' : decode(pair.slice(at + 1));
    if (value === '') throw new Error(`has the parameter ${name} without a value.`);
    parameters.set(name, value);
  }
  return parameters;
}

function oneOf<const T extends string>(
  parameters: ReadonlyMap<string, string>,
  name: string,
  words: readonly T[],
): T | undefined {
  const value = parameters.get(name);
  const word = words.find((candidate) => candidate === value);
  if (value !== undefined && word === undefined) throw new Error(`must have ${name} as one of ${words.join(', ')}.`);
  return word;
}

function tlsOf(parameters: ReadonlyMap<string, string>): TlsFiles {
  const asked = parameters.get('sslmode');
  if (asked === 'allow' || asked === 'prefer') {
    throw new Error(
      'must not leave TLS to chance: in place of sslmode=allow or prefer use verify-full, or disable on a private network.',
    );
  }
  const mode = oneOf(parameters, 'sslmode', TLS_MODES) ?? 'disable';
  const [rootCertFile, certFile, keyFile] = ['sslrootcert', 'sslcert', 'sslkey'].map((name) => parameters.get(name));
  if (mode === 'disable' && (rootCertFile ?? certFile ?? keyFile) !== undefined) {
    throw new Error('names certificates without TLS. Add sslmode=verify-full.');
  }
  if ((certFile === undefined) !== (keyFile === undefined)) throw new Error('must have sslcert and sslkey together.');
  const isSystem = rootCertFile === undefined || rootCertFile === SYSTEM_AUTHORITIES;
  // Any certificate of any public authority would do, for whatever name: that proves nothing.
  if (isSystem && (mode === 'verify-ca' || (mode === 'require' && rootCertFile !== undefined))) {
    throw new Error(
      `must have sslrootcert as the file of the authority with sslmode=${mode}, or use sslmode=verify-full.`,
    );
  }
  return { mode, rootCertFile: isSystem ? undefined : rootCertFile, certFile, keyFile };
}

function connectTimeoutOf(parameters: ReadonlyMap<string, string>): number | undefined {
  const text = parameters.get('connect_timeout');
  if (text === undefined) return undefined;
  if (!/^\d{1,4}$/.test(text)) throw new Error('must have connect_timeout in whole seconds.');
  // libpq means "no bound" by zero; here the bound of the caller always holds.
  return text === '0' ? undefined : Number(text) * 1_000;
}

function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text);
    if (!decoded.includes('\0')) return decoded;
  } catch {
    // Refused below, with the same words.
  }
  throw new Error('must have its special marks percent-encoded, a percent sign as %25.');
}

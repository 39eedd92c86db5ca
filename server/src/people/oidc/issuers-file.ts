import { createHash } from 'node:crypto';
import { isJsonObject } from '../../kernel/json-object.js';
import { parseUrl } from '../../kernel/parse-url.js';
import { Secret } from '../../kernel/secret.js';
import { codePointLength, hasForbiddenCharacters, isBlank } from '../../kernel/text.js';
import type { OutboundRules } from '../../outbound/policy.js';
import { parseAllowRules } from '../../outbound/rules.js';
import { readSmallFile } from '../../outbound/tenant-rules-file.js';

/** Somebody who vouches for people, as the operator named them. */
export interface OidcIssuer {
  /** Stable as long as issuer and client id are: it stands in the address that people come back to. */
  readonly id: string;
  /** Shown on the button. */
  readonly name: string;
  /** As the URL standard writes it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret<string>;
  readonly scopes: readonly string[];
  /** Hosts beside that of the issuer which its endpoints are at. */
  readonly hosts: readonly string[];
  /** It asks for a second factor itself, says the operator. */
  readonly hasSecondFactor: boolean;
}

const FILE_BYTES_MAX = 256 * 1024;
const SECRET_FILE_BYTES_MAX = 8 * 1024;
const ISSUERS_MAX = 20;
const HOSTS_MAX = 10;
const SCOPES_MAX = 20;
const NAME_CHARACTERS_MAX = 60;
const TEXT_CHARACTERS_MAX = 1_024;
/** Hex digits: enough to tell twenty apart, short enough for an address. */
const ID_CHARACTERS = 16;
const MEMBERS = [
  'name',
  'issuer',
  'client_id',
  'client_secret',
  'client_secret_file',
  'scopes',
  'hosts',
  'second_factor',
];
/** RFC 6749, section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;
/** RFC 6749, appendix A: what a client id or secret may hold. */
const PRINTABLE = /^[\x20-\x7e]+$/;
const DEFAULT_SCOPES = ['openid', 'email', 'profile'];

/**
 * The list of issuers: `[{ "name", "issuer", "client_id", "client_secret" or "client_secret_file", "scopes"?, "hosts"?,
 * "second_factor"? }]`. No
 * message repeats what is in the file: a secret may be in the wrong place.
 */
export function readOidcIssuers(path: string): readonly OidcIssuer[] {
  const list = parseList(readSmallFile(path, FILE_BYTES_MAX));
  const issuers = list.map((entry, index) => {
    try {
      return parseIssuer(entry);
    } catch (error) {
      const why = error instanceof Error ? error.message : 'is not valid.';
      throw new Error(`names a file where issuer ${index + 1} ${why}`, { cause: error });
    }
  });
  const repeated = issuers.findIndex(({ id }, index) => issuers.findIndex((other) => other.id === id) !== index);
  if (repeated !== -1) throw new Error(`names a file where issuer ${repeated + 1} is there already.`);
  return issuers;
}

/** What the product has to reach for these issuers: their own hosts, the ones named beside them, and nothing else. */
export function outboundRulesOf(issuers: readonly OidcIssuer[]): OutboundRules {
  const own = issuers.map(({ issuer }) => {
    const { hostname, port } = new URL(issuer);
    return port === '' ? hostname : `${hostname}:${port}`;
  });
  return { allow: parseAllowRules([...own, ...issuers.flatMap(({ hosts }) => hosts)]), deny: [], public: 'refused' };
}

function parseList(text: string): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Without its cause, which quotes the file.
    throw new Error('names a file that is not JSON.');
  }
  if (!Array.isArray(value)) throw new Error('names a file that is not a JSON list of issuers.');
  if (value.length > ISSUERS_MAX) throw new Error(`names a file of more than ${ISSUERS_MAX} issuers.`);
  return value;
}

function parseIssuer(entry: unknown): OidcIssuer {
  if (!isJsonObject(entry) || Object.keys(entry).some((name) => !MEMBERS.includes(name))) {
    throw new Error(`must be an object with no other members than ${MEMBERS.join(', ')}.`);
  }
  const { name, client_id: clientId, hosts = [], scopes = DEFAULT_SCOPES } = entry;
  if (!isName(name)) throw new Error(`must have a name of 1 to ${NAME_CHARACTERS_MAX} characters.`);
  const issuer = issuerUrlOf(entry.issuer);
  if (!isPrintable(clientId)) throw new Error('must have a client_id of printable ASCII characters.');
  if (!isTexts(scopes, SCOPES_MAX) || !scopes.includes('openid') || !scopes.every((scope) => SCOPE.test(scope))) {
    throw new Error(`must have a list of at most ${SCOPES_MAX} scopes, openid among them.`);
  }
  if (!isTexts(hosts, HOSTS_MAX) || !hosts.every(isHost)) {
    throw new Error(
      `must have a list of at most ${HOSTS_MAX} hosts such as login.example.com or login.example.com:8443.`,
    );
  }
  const { second_factor: hasSecondFactor = false } = entry;
  if (typeof hasSecondFactor !== 'boolean') throw new Error('must have true or false as second_factor.');
  const named = { id: issuerIdOf(issuer, clientId), name, issuer, clientId };
  return { ...named, clientSecret: secretOf(entry), scopes: [...new Set(scopes)], hosts, hasSecondFactor };
}

function issuerUrlOf(value: unknown): string {
  const url = typeof value === 'string' && value.length <= TEXT_CHARACTERS_MAX ? parseUrl(value) : undefined;
  const isGood =
    url?.protocol === 'https:' &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === '' &&
    // The library would take such an address for that of the document, and not compare the issuer in it.
    !url.pathname.includes('/.well-known/') &&
    isHost(url.host);
  if (!isGood) throw new Error('must have an https:// address without user, query and fragment as issuer.');
  return url.href;
}

function secretOf({ client_secret: secret, client_secret_file: path }: { readonly [name: string]: unknown }) {
  if ((secret === undefined) === (path === undefined)) {
    throw new Error('must have either client_secret or client_secret_file.');
  }
  const text = typeof path === 'string' ? secretInFile(path) : secret;
  if (!isPrintable(text)) throw new Error('must have a secret of printable ASCII characters.');
  return new Secret(text);
}

function secretInFile(path: string): string {
  try {
    return readSmallFile(path, SECRET_FILE_BYTES_MAX).replace(/\r?\n$/, '');
  } catch (error) {
    const why = error instanceof Error ? error.message : 'names a file that cannot be read.';
    throw new Error(`has a client_secret_file that ${why}`, { cause: error });
  }
}

/** The two are one text that cannot be read as another pair. */
function issuerIdOf(issuer: string, clientId: string): string {
  return createHash('sha256')
    .update(JSON.stringify([issuer, clientId]))
    .digest('hex')
    .slice(0, ID_CHARACTERS);
}

/** A host alone: no scheme, no wildcard and no network, so that exactly this is reached. */
function isHost(text: string): boolean {
  try {
    const [rule, ...others] = parseAllowRules([text]);
    const isExact = rule !== undefined && ('range' in rule.names ? !text.includes('/') : !rule.names.isWildcard);
    return isExact && others.length === 0 && !text.includes('://');
  } catch {
    return false;
  }
}

function isName(value: unknown): value is string {
  if (typeof value !== 'string' || isBlank(value) || hasForbiddenCharacters(value)) return false;
  return codePointLength(value) <= NAME_CHARACTERS_MAX && !/\p{Cc}/u.test(value);
}

function isPrintable(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TEXT_CHARACTERS_MAX && PRINTABLE.test(value);
}

function isTexts(value: unknown, max: number): value is readonly string[] {
  return Array.isArray(value) && value.length <= max && value.every((item) => typeof item === 'string');
}

import type { IpAddress } from '../limits/ip-address.js';
import { type IpRange, isInRange, parseRange } from '../limits/ip-range.js';
import { type Destination, defaultPort, isHostName, readDestination } from './destination.js';

/** One line of an operator's list: whom it names, and on which way. Undefined stands for any. */
export interface OutboundRule {
  readonly isPlain: boolean | undefined;
  readonly port: number | undefined;
  readonly names: { readonly host: string; readonly isWildcard: boolean } | { readonly range: IpRange };
}

const RULES_MAX = 1_024;
const PORT_MAX = 65_535;
const WILDCARD = '*.';
const SCHEME = /^(https?):\/\//;
/** `[fd00::/8]:8443`: an IPv6 range needs brackets where a port follows. */
const BRACKETS = /^\[([0-9a-f:./]+)\](?::(\d{1,5}))?$/i;
const HOST_AND_PORT = /^([^\s:?#@\\[\]]+)(?::(\d{1,5}))?$/;

/** A rule that allows says exactly what: HTTPS and its port unless it names others. */
export function parseAllowRules(texts: readonly string[]): readonly OutboundRule[] {
  return parseRules(texts).map((rule) => {
    const isPlain = rule.isPlain ?? false;
    return { ...rule, isPlain, port: rule.port ?? defaultPort(isPlain) };
  });
}

/** A rule that denies holds for every scheme and port unless it names some. */
export function parseDenyRules(texts: readonly string[]): readonly OutboundRule[] {
  return parseRules(texts);
}

/** Whether the rule is about this scheme and port, whatever the host. */
export function isOnWay(rule: OutboundRule, { isPlain, port }: Pick<Destination, 'isPlain' | 'port'>): boolean {
  return (rule.isPlain ?? isPlain) === isPlain && (rule.port ?? port) === port;
}

export function namesHost({ names }: OutboundRule, { host, address }: Destination): boolean {
  if (!('host' in names) || address !== undefined) return false;
  return names.isWildcard ? host.endsWith(`.${names.host}`) : host === names.host;
}

export function namesAddress({ names }: OutboundRule, address: IpAddress): boolean {
  return 'range' in names && isInRange(address, names.range);
}

function parseRules(texts: readonly string[]): readonly OutboundRule[] {
  if (texts.length > RULES_MAX) throw new Error(`must have at most ${RULES_MAX} rules.`);
  return texts.map((text, index) => {
    const rule = parseRule(text);
    if (rule === null) {
      throw new Error(
        `must be rules such as api.example.internal, *.example.internal:8443, 10.0.0.0/8 or http://[fd00::/8]:8080; rule ${index + 1} is none.`,
      );
    }
    return rule;
  });
}

function parseRule(text: string): OutboundRule | null {
  const scheme = SCHEME.exec(text)?.[1];
  const rest = scheme === undefined ? text : text.slice(scheme.length + '://'.length);
  const whole = parseRange(rest); // An IPv6 range without brackets has colons, but no port.
  const [, namedText = '', portText] = BRACKETS.exec(rest) ?? HOST_AND_PORT.exec(rest) ?? [];
  const range = whole ?? parseRange(namedText);
  const names = range === null ? parseName(namedText) : { range };
  const port = whole !== null || portText === undefined ? undefined : Number(portText);
  if (names === null || (port !== undefined && (port < 1 || port > PORT_MAX))) return null;
  return { isPlain: scheme === undefined ? undefined : scheme === 'http', port, names };
}

/** In the form a destination has, so that the two compare as text. An address in an unusual spelling is no name. */
function parseName(text: string): { readonly host: string; readonly isWildcard: boolean } | null {
  const isWildcard = text.startsWith(WILDCARD);
  const name = isWildcard ? text.slice(WILDCARD.length) : text;
  if (name.includes('/')) return null;
  const destination = readDestination(`https://${name}`);
  if (typeof destination === 'string' || destination.address !== undefined) return null;
  return isHostName(destination.host) ? { host: destination.host, isWildcard } : null;
}

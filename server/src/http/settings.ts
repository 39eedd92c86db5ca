import { listenHost } from '../kernel/listen-host.js';
import type { SettingKind, Settings } from '../kernel/setting.js';
import { integerBetween, listOf, oneOf, PORT } from '../kernel/setting.js';

const PREFIX_PATTERN = /^[A-Za-z][A-Za-z0-9]{0,19}$/;

const HEADER_PREFIXES: SettingKind<readonly string[]> = {
  values: 'names, separated by commas',
  parse(text) {
    const prefixes = listOf(text).map((prefix) => prefix.toUpperCase());
    if (prefixes.some((prefix) => !PREFIX_PATTERN.test(prefix))) {
      throw new Error('must be names of letters and digits, separated by commas, for example SVC,BT.');
    }
    return [...new Set(['SVC', ...prefixes])];
  },
};

export const HTTP_SETTINGS = {
  host: {
    name: 'STRONGROOM_HOST',
    kind: { values: 'address or name', parse: listenHost },
    default: '127.0.0.1',
    about: 'Address the API listens on; `0.0.0.0` for every interface, `::1` or `[::1]` for loopback by IPv6',
  },
  port: {
    name: 'STRONGROOM_PORT',
    kind: PORT,
    default: '8080',
    about: 'Port of the API; 0 picks a free one',
  },
  tlsInFront: {
    name: 'STRONGROOM_TLS_IN_FRONT',
    kind: oneOf(['yes', 'no']),
    default: undefined,
    about:
      '`yes`: a proxy in front terminates TLS; `no`: plain HTTP is intended. Required in production beyond loopback',
  },
  headerPrefixes: {
    name: 'STRONGROOM_HEADER_PREFIXES',
    kind: HEADER_PREFIXES,
    default: 'SVC',
    about: 'Accepted prefixes of header names, for example `SVC,BT`; `SVC` always works',
  },
  requestsInFlightMax: {
    name: 'STRONGROOM_REQUESTS_IN_FLIGHT_MAX',
    kind: integerBetween(1, 100_000),
    default: '256',
    about: 'Requests one process works on at once; past it the answer is 503 `overloaded`',
  },
} satisfies Settings;

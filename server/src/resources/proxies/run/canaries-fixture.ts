import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { PORTAL_COOKIE } from '../../../access/portal-cookie-reader.js';
import type { Listening } from '../../../outbound/outbound-fixture.js';
import { listening } from '../../../outbound/outbound-fixture.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../../testing/test-app.js';
import type { TestDestination } from './destination-fixture.js';
import { startDestination } from './destination-fixture.js';

export const digits = (count: number) => Array.from({ length: count }, () => randomInt(10)).join('');
/** With what JSON, addresses and forms write in other ways. The digits at its end read the same in most of them. */
const odd = (name: string) => `canary ${name} "q" <é> /%+&: ${digits(18)}`;
const plain = (name: string) => `canary-${name}-${digits(18)}`;

/** What nobody but callers, code and the destination may see. */
export function plantProxyCanaries() {
  return {
    value: odd('value'),
    /** Ends a header wherever it is written into one. */
    lines: `${plain('lines')}\r\nX-Evil: ${digits(18)}`,
    /** What a caller sends for the destination alone. */
    sent: plain('sent'),
    /** A number that may be in the name of a host. */
    number: `4${digits(18)}`,
    cookie: plain('cookie'),
    setting: plain('setting'),
    source: plain('source'),
    printed: plain('printed'),
  };
}

export type ProxyCanaries = ReturnType<typeof plantProxyCanaries>;

/** An answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** False where the connection ended first. */
  readonly isWhole: boolean;
}

export interface WireCall {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

/** As it is written: what is called fetch has its own idea of paths and headers. */
export function callRaw(port: number, path: string, call: WireCall = {}): Promise<WireAnswer> {
  const { method = 'POST', headers = {}, body, signal } = call;
  return new Promise((resolve) => {
    let [status, text]: [number, string] = [0, ''];
    let answered: WireAnswer['headers'] = {};
    const settle = (isWhole: boolean): void => resolve({ status, headers: answered, text, isWhole });
    const options = { host: '127.0.0.1', port, path, method, headers, agent: false, ...(signal && { signal }) };
    const asked = request(options, (response) => {
      status = response.statusCode ?? 0;
      answered = { ...response.headers };
      response.on('data', (piece: Buffer) => {
        text += piece.toString();
      });
      response.on('error', () => settle(false)).on('end', () => settle(true));
    });
    asked.on('error', () => settle(false));
    asked.end(body);
  });
}

export interface CanaryWorld {
  readonly app: TestApp;
  /** A second process on the same database, which waits 50 ms for the answer of a destination. */
  readonly impatient: TestApp;
  readonly canaries: ProxyCanaries;
  readonly destination: TestDestination;
  /** Has a certificate that nobody here trusts. */
  readonly untrusted: TestDestination;
  /** Answers a TLS handshake in the clear. */
  readonly plainSpoken: Listening;
  readonly tenant: TestTenant;
  readonly caller: { readonly id: string; readonly key: string };
  /** May do nothing with tokens. */
  readonly weakKey: string;
  readonly tokens: { readonly value: string; readonly lines: string };
  make(more?: object): Promise<{ readonly id: string; readonly key: string }>;
  close(): Promise<void>;
}

const PATIENT_MS = 120_000;
const IMPATIENT_MS = 50;
/** Allowed, and nobody listens there. */
export const DEAD_PORT = 1;

/** The product with its log at its most detailed and every refusal audited, and companies around it. */
export async function openCanaryWorld(): Promise<CanaryWorld> {
  const canaries = plantProxyCanaries();
  const [destination, untrusted] = await Promise.all([startDestination(), startDestination()]);
  const plainSpoken = await listening(
    createServer((socket) => socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n\r\n${canaries.sent}`))),
  );
  const allowed = [untrusted.port, plainSpoken.port, DEAD_PORT].map((port) => `127.0.0.1:${port}`);
  const env = {
    ...destination.env,
    STRONGROOM_OUTBOUND_ALLOW: [destination.env.STRONGROOM_OUTBOUND_ALLOW, ...allowed].join(','),
    STRONGROOM_HEADER_PREFIXES: 'SVC,BT',
    STRONGROOM_AUDIT: 'full',
  };
  const wayWithin = (headersMs: number) => ({
    bounds: { headersMs, idleMs: PATIENT_MS },
    resolve: async (name: string) =>
      name === 'localhost' ? ['127.0.0.1'] : name.endsWith('inside.test') ? ['10.0.0.1'] : [],
  });
  const app = await startTestApp({ env, outboundWay: wayWithin(PATIENT_MS) });
  const beside = { db: app.db, rootKey: rootKeyOf(app) };
  const impatient = await startTestApp({ env, beside, outboundWay: wayWithin(IMPATIENT_MS) });
  const tenant = await app.makeTenant();
  const caller = await app.makeApplication(tenant.id, 'private', ['token:create', 'token:use']);
  const store = async (data: string): Promise<string> =>
    (await app.call('POST', '/tokens', { key: caller.key, body: { type: 'token', data } })).json.id;
  return {
    ...{ app, impatient, canaries, destination, untrusted, plainSpoken, tenant, caller },
    weakKey: await app.makeKey(tenant.id, 'private', ['token:read']),
    tokens: { value: await store(canaries.value), lines: await store(canaries.lines) },
    async make(more = {}) {
      const body = { name: 'Canaries', destination_url: `${destination.named}/v1`, ...more };
      const made = await app.call('POST', '/proxies', { key: tenant.key, body });
      assert.equal(made.status, 201, made.text);
      return made.json;
    },
    async close() {
      await impatient.close();
      await app.close();
      await Promise.all([destination.close(), untrusted.close(), plainSpoken.close()]);
    },
  };
}

/** All that a caller, its browser and the network in front of us may send along. */
export function everythingSent({ caller, tenant, canaries, tokens }: CanaryWorld): Record<string, string> {
  return {
    'SVC-API-KEY': caller.key,
    'BT-API-KEY': caller.key,
    'SVC-TENANT-ID': tenant.id,
    'SVC-IDEMPOTENCY-KEY': 'once-only',
    'bt-client-user-agent': 'of-our-clients',
    Cookie: `first=1; ${PORTAL_COOKIE}=${canaries.cookie}; last=2`,
    'X-Forwarded-For': '10.1.2.3',
    'X-Forwarded-Host': 'vault.inside.test',
    'X-Forwarded-Proto': 'https',
    'X-Real-IP': '10.1.2.3',
    Forwarded: 'for=10.1.2.3;host=vault.inside.test',
    Via: '1.1 gate.inside.test',
    'Proxy-Authorization': 'Basic of-the-gate',
    'Sec-Fetch-Site': 'same-origin',
    Authorization: `Bearer ${canaries.sent}`,
    'X-Card': `{{ ${tokens.value} }}`,
    'Content-Type': 'application/json',
  };
}

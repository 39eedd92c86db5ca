import assert from 'node:assert/strict';
import type { Answer, Call } from './client.js';
import type { Subject } from './subject.js';

export interface Application {
  readonly id: string;
  readonly tenant_id: string;
  readonly name: string;
  readonly type: string;
  readonly permissions: readonly string[];
  readonly rules: readonly object[];
  readonly key?: string;
  readonly keys?: readonly KeyName[];
  readonly expires_at?: string;
  readonly created_by?: string;
  readonly created_at: string;
  readonly modified_by?: string;
  readonly modified_at?: string;
}

/** What answers about an Application tell of its keys. */
export interface KeyName {
  readonly id: string;
  readonly created_by?: string;
  readonly created_at: string;
}

export interface Token {
  readonly id: string;
  readonly type: string;
  readonly tenant_id: string;
  readonly data?: unknown;
  readonly mask?: unknown;
  readonly containers: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  readonly fingerprint?: string;
  readonly created_by?: string;
  readonly created_at: string;
  readonly modified_by?: string;
  readonly modified_at?: string;
}

export interface Session {
  readonly id: string;
  readonly session_key: string;
  readonly nonce: string;
  readonly expires_at: string;
}

export interface Listed<T> {
  readonly pagination: Readonly<Record<string, number>> & { readonly after?: string; readonly next?: string };
  readonly data: readonly T[];
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/;
export const UNKNOWN_ID = '4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10';
export const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031, cvc: '123' };
/** In the order of the catalogue, in which rights come back. */
export const TOKEN_PERMISSIONS = [
  ...['token:create', 'token:update', 'token:read', 'token:search', 'token:delete', 'token:use'],
];
const ALL = { description: 'all', priority: 1, container: '/', transform: 'reveal', permissions: TOKEN_PERMISSIONS };
const CARDS_ONLY = { ...ALL, description: 'cards', container: '/pci/' };

/** Applications made over the API for the suites about tokens. */
export interface Vault {
  /** May do everything with every token, and sees data as it is. */
  readonly full: string;
  readonly fullId: string;
  /** The same, but of tokens in /pci/ alone. */
  readonly cards: string;
  /** Holds every token permission plainly: sees masks. */
  readonly plain: string;
  readonly public: string;
  /** Everything, in another Tenant. */
  readonly stranger: string;
  readonly session: string;
  readonly sessionId: string;
}

export async function post<T>(call: Call, key: string, path: string, body?: unknown): Promise<T> {
  const answer = await call('POST', path, { key, ...(body !== undefined && { body }) });
  assert.ok(answer.status < 300, `${path}: ${answer.text}`);
  return answer.as<T>();
}

export async function openVault({ call, keys }: Subject): Promise<Vault> {
  const make = (key: string, body: object) => post<Application>(call, key, '/applications', { name: 'Vault', ...body });
  const rights = { type: 'private', permissions: TOKEN_PERMISSIONS };
  const full = await make(keys.management, { ...rights, rules: [ALL] });
  const cards = await make(keys.management, { ...rights, permissions: [], rules: [CARDS_ONLY] });
  const plain = await make(keys.management, rights);
  const open = await make(keys.management, { type: 'public', permissions: ['token:create', 'token:update'] });
  const stranger = await make(keys.otherTenantManagement, { ...rights, rules: [ALL] });
  const session = await post<Session>(call, keyOf(open), '/sessions');
  const granted = { nonce: session.nonce, permissions: ['token:read'] };
  assert.equal((await call('POST', '/sessions/authorize', { key: keyOf(full), body: granted })).status, 200);
  return {
    full: keyOf(full),
    fullId: full.id,
    cards: keyOf(cards),
    plain: keyOf(plain),
    public: keyOf(open),
    stranger: keyOf(stranger),
    session: session.session_key,
    sessionId: session.id,
  };
}

export function keyOf({ key }: Application): string {
  assert.ok(key !== undefined, 'the key is shown where it is made');
  return key;
}

export function listed<T>(answer: Answer): Listed<T> {
  assert.equal(answer.status, 200, answer.text);
  const list = answer.as<Listed<T>>();
  assert.deepEqual(Object.keys(list).sort(), ['data', 'pagination']);
  return list;
}

/** What the log says about an entity, oldest first: `operation: message`. */
export async function logged({ call, keys }: Subject, entityId: string): Promise<string[]> {
  const answer = await call('GET', `/logs?size=1000&entity_id=${encodeURIComponent(entityId)}`, {
    key: keys.management,
  });
  const { data } = listed<Record<'entity_type' | 'operation' | 'message', string>>(answer);
  return data.map((entry) => `${entry.entity_type} ${entry.operation}: ${entry.message}`).reverse();
}

import { randomBytes } from 'node:crypto';
import type { CanaryPair } from './canaries.js';
import { makeCanaries } from './canaries.js';
import { openConnection } from './connection.js';
import type { Document } from './document.js';
import { readDocument } from './document.js';
import type { Neighbour } from './neighbour.js';
import { makeNeighbour } from './neighbour.js';
import type { Product } from './product.js';
import { bytesOf, request } from './request.js';
import type { Shelf } from './shelf.js';
import { makeShelf } from './shelf.js';

/** Who there is to attack, and with what. */
export interface World {
  readonly seed: number;
  readonly port: number;
  readonly document: Document;
  /** The tenant whose tokens are made and read. */
  readonly main: Tenant;
  /** The tenant whose settings and applications are changed at will. */
  readonly side: Tenant;
  /** The tenant nobody here may see anything of. */
  readonly victim: Victim;
  /** The tenant whose tokens are all known and never change. */
  readonly shelf: Shelf;
  /** The tenant that works beside all this and must notice nothing. */
  readonly neighbour: Neighbour;
  /** Cards of the main tenant that nobody may see who sees masks alone. */
  readonly canaries: readonly CanaryPair[];
  /** Keys whose holders are shown no data. */
  readonly maskedKeys: ReadonlySet<string>;
  /** Credentials that worked once: of a deleted tenant, a deleted application, a revoked and a regenerated key. */
  readonly deadKeys: readonly string[];
  readonly templateId: string;
  /** Stands in what is stored as token data, and so never in the log. */
  readonly secretMark: string;
}

export interface Tenant {
  readonly id: string;
  readonly manageKey: string;
  /** Sees data as it is. */
  readonly privateKey: string;
  /** Sees masks alone. */
  readonly maskedKey: string;
  /** May change tokens and is shown masks alone. */
  readonly updateKey: string;
  readonly publicKey: string;
  /** Of the application behind the private key. */
  readonly applicationId: string;
  readonly tokenId: string;
  /** Applications to change at will, each with a key of its own; many, because changes of one wait for each other. */
  readonly scratch: readonly { readonly applicationId: string; readonly keyId: string }[];
  readonly scratchTokenIds: readonly string[];
  /** Reactors to change and run at will. */
  readonly reactorIds: readonly string[];
  /** Proxies to change and call at will: one that takes a key, one that takes none, and one with code. */
  readonly proxies: readonly { readonly id: string; readonly key: string }[];
  /** By list: `logs`, `tokens`, `search`. */
  readonly cursors: Readonly<Record<string, string>>;
}

export interface Victim extends Tenant {
  readonly mark: string;
}

const SCRATCH = 24;
const REACTORS = 4;
/** Gives back what it is given, or does what it is asked to. */
const REACTOR_CODE =
  'module.exports = async ({ args }) => { if (args?.throws) throw new Error(args.throws); return { raw: args, tokenize: args?.tokenize }; };';

export type Ask = (key: string, method: string, target: string, body?: unknown) => Promise<Made>;
export type Made = Readonly<Record<string, unknown>>;

/** All of it over the API and the command line, as an operator and a user would. */
export async function makeWorld(product: Product, firstKey: string, seed: number): Promise<World> {
  const ask = asker(product.port);
  const permissions = await ask(firstKey, 'GET', '/permissions');
  const held = Object.values(permissions)
    .map((one) => one as { type: string; application_types: string[] }) // The catalogue's own shape.
    .filter(({ application_types }) => application_types.includes('management'))
    .flatMap(({ type }) => ['--permission', type]);
  const makeManaged = async (name: string): Promise<string> => {
    const id = await product.command('tenant', 'create', '--name', name);
    return product.command('application', 'create', '--tenant', id, '--type', 'management', ...held);
  };
  const mark = `vctm${randomBytes(8).toString('hex')}`;
  const secretMark = `ownsecret${randomBytes(8).toString('hex')}`;
  const [sideKey, victimKey, doomedKey, shelfKey, neighbourKey] = await Promise.all([
    makeManaged('Side'),
    makeManaged(`Victim ${mark}`),
    makeManaged('Doomed'),
    makeManaged('Shelf'),
    makeManaged('Neighbour'),
  ]);
  const main = await furnish(ask, firstKey, secretMark);
  const victim = await furnish(ask, victimKey, mark);
  const doomed = await furnish(ask, doomedKey, secretMark);
  await ask(doomedKey, 'DELETE', '/tenants/self');
  const templates = await ask(firstKey, 'GET', '/application-templates');
  const side = await furnish(ask, sideKey, secretMark);
  const shelf = await makeShelf(ask, await furnish(ask, shelfKey, secretMark));
  return {
    seed,
    port: product.port,
    document: readDocument(await ask(firstKey, 'GET', '/openapi.json')),
    main,
    side,
    victim: { ...victim, mark },
    shelf,
    neighbour: await makeNeighbour(product.port, ask, neighbourKey),
    canaries: await makeCanaries(ask, main.privateKey),
    maskedKeys: new Set([main, side, shelf].flatMap(({ maskedKey, updateKey }) => [maskedKey, updateKey])),
    deadKeys: [doomed.manageKey, doomed.privateKey, ...(await endedKeys(ask, firstKey))],
    templateId: textOf(Object.values(templates)[0], 'id'),
    secretMark,
  };
}

async function furnish(ask: Ask, manageKey: string, mark: string): Promise<Tenant> {
  const { id } = await ask(manageKey, 'GET', '/tenants/self');
  const application = (type: string, permissions: string[]): Promise<Made> =>
    ask(manageKey, 'POST', '/applications', {
      name: `${type} ${mark}`,
      type,
      rules: [{ priority: 1, container: '/', transform: 'reveal', permissions }],
      permissions,
    });
  const all = ['create', 'read', 'update', 'delete', 'search', 'use'].map((act) => `token:${act}`);
  const owner = await application('private', all);
  const plain = (name: string, permissions: string[]): Promise<Made> =>
    ask(manageKey, 'POST', '/applications', { name, type: 'private', permissions });
  const onlooker = await plain('Onlooker', ['token:read', 'token:search']);
  const changer = await plain('Changer', ['token:update']);
  const visitor = await application('public', ['token:create']);
  const privateKey = textOf(owner, 'key');
  const places = Array.from({ length: SCRATCH }, (_, place) => place);
  const tokens = await Promise.all(
    places.map((place) =>
      ask(privateKey, 'POST', '/tokens', {
        data: { value: `${mark}-${place}` },
        metadata: { owner: mark },
        search_indexes: ['{{ data.value }}'],
      }),
    ),
  );
  const [tokenId = '', ...scratchTokenIds] = tokens.map((token) => textOf(token, 'id'));
  const scratch = await Promise.all(
    places.map(async () => {
      const applicationId = textOf(await application('private', ['token:read']), 'id');
      const keys = await ask(manageKey, 'GET', `/applications/${applicationId}/keys`);
      return { applicationId, keyId: textOf(Object.values(keys)[0], 'id') };
    }),
  );
  const cursorOf = async (key: string, method: string, target: string, body?: unknown): Promise<string> =>
    textOf((await ask(key, method, target, body)).pagination, 'after');
  return {
    id: String(id),
    manageKey,
    privateKey,
    maskedKey: textOf(onlooker, 'key'),
    updateKey: textOf(changer, 'key'),
    publicKey: textOf(visitor, 'key'),
    applicationId: textOf(owner, 'id'),
    tokenId,
    scratch,
    scratchTokenIds,
    reactorIds: await makeReactors(ask, manageKey, mark),
    proxies: await makeProxies(ask, manageKey, mark, textOf(owner, 'id')),
    cursors: {
      logs: await cursorOf(manageKey, 'GET', '/logs?size=2'),
      tokens: await cursorOf(privateKey, 'GET', '/v2/tokens?size=2'),
      search: await cursorOf(privateKey, 'POST', '/v2/tokens/search', { size: 2 }),
    },
  };
}

async function makeReactors(ask: Ask, manageKey: string, mark: string): Promise<string[]> {
  const body = { name: 'Echo', code: REACTOR_CODE, configuration: { OWNER: mark } };
  const made = await Promise.all(Array.from({ length: REACTORS }, () => ask(manageKey, 'POST', '/reactors', body)));
  return made.map((reactor) => textOf(reactor, 'id'));
}

/** Their destination is a name that no rule allows, so nothing is ever sent to it. */
async function makeProxies(
  ask: Ask,
  manageKey: string,
  mark: string,
  applicationId: string,
): Promise<Tenant['proxies']> {
  const code = 'module.exports = async ({ args }) => ({ body: args.body, headers: args.headers });';
  const kinds = [{}, { require_auth: false, application_id: applicationId }, { request_transform: { code } }];
  const made = await Promise.all(
    kinds.map((more) =>
      ask(manageKey, 'POST', '/proxies', {
        ...{ name: 'Nowhere', destination_url: 'https://nowhere.invalid/v1', configuration: { OWNER: mark } },
        ...more,
      }),
    ),
  );
  return made.map((proxy) => ({ id: textOf(proxy, 'id'), key: textOf(proxy, 'key') }));
}

async function endedKeys(ask: Ask, manageKey: string): Promise<string[]> {
  const body = { name: 'Ends soon', type: 'private', permissions: ['token:read'] };
  const deleted = await ask(manageKey, 'POST', '/applications', body);
  await ask(manageKey, 'DELETE', `/applications/${textOf(deleted, 'id')}`);
  const regenerated = await ask(manageKey, 'POST', '/applications', body);
  await ask(manageKey, 'POST', `/applications/${textOf(regenerated, 'id')}/regenerate`);
  const further = await ask(manageKey, 'POST', `/applications/${textOf(regenerated, 'id')}/keys`);
  await ask(manageKey, 'DELETE', `/applications/${textOf(regenerated, 'id')}/keys/${textOf(further, 'id')}`);
  return [deleted, regenerated, further].map((made) => textOf(made, 'key'));
}

/** Calls that must succeed. */
export function asker(port: number): Ask {
  return async (key, method, target, body) => {
    const connection = openConnection(port);
    try {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const answer = await connection.exchange(bytesOf(request(key, method, target, text)), false);
      if (answer.status >= 300) throw new Error(`${method} ${target} answered ${answer.status}: ${answer.body}`);
      return answer.body === '' ? {} : JSON.parse(answer.body);
    } finally {
      connection.close();
    }
  };
}

export function textOf(made: unknown, name: string): string {
  const value = typeof made === 'object' && made !== null ? new Map(Object.entries(made)).get(name) : undefined;
  if (typeof value !== 'string') throw new Error(`assertion failed: ${name} is a text`);
  return value;
}

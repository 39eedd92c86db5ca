import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Made } from '../beside-load.js';
import { ask, createTokens, inParallel } from '../beside-load.js';
import type { Ending } from '../call.js';
import type { Damage, Spot } from '../damage.js';
import { bytes, damage, text, words } from '../damage.js';
import type { ApiNode } from '../node.js';
import { textAt } from '../plan.js';
import type { Round, Scenario } from '../scenario.js';
import type { LoadTenant } from '../tenants.js';
import { makeTenant } from '../tenants.js';

const SIZES = {
  short: { tokens: 100, controls: 20, keyTenants: 1, applications: 18 },
  long: { tokens: 10_000, controls: 500, keyTenants: 30, applications: 600 },
};
const LOG_MAX_MS = 60_000;

/** Rights of an application and of its key, wherever they are stored. */
const RIGHTS: readonly Spot[] = [
  bytes('applications', 'id', 'mac'),
  text('applications', 'id', 'rules'),
  words('applications', 'id', 'permissions'),
  bytes('api_keys', 'application_id', 'mac'),
  bytes('api_keys', 'application_id', 'hash'),
];

/**
 * Tenants beside those of the load get damaged rows. A node that starts afterwards, with nothing remembered, must open none
 * of them and everything else; the operator is told of each; mended, all is as before.
 */
export const flippedBytes: Scenario = {
  name: 'flipped-bytes',
  about: 'one flipped byte in stored ciphertexts, wrapped keys and rows that grant rights',
  needs: [],
  shortCount: 1,
  longCount: 1,
  load: { workersPerTenant: 1, pauseMs: [50, 200] },
  async inject(round) {
    const size = SIZES[round.isLong ? 'long' : 'short'];
    const { cluster } = round;
    const client = await cluster.postgres.connect();
    const damages: Damage[] = [];
    try {
      const [holder, ...keyTenants] = await makeTenants(round, 1 + size.keyTenants);
      if (!holder) throw new Error('there is a tenant');
      const tokens = await createTokens(round, holder, size.tokens + size.controls);
      const keyTokens = await Promise.all(keyTenants.map((tenant) => createTokens(round, tenant, 1)));
      const applications = await makeApplications(round, holder, size.applications);
      const bad = tokens.slice(0, size.tokens);
      const path = `/tokens/${tokens.at(-1)?.id}`;
      const before = await statuses(round, 0, path, applications);
      const spot = bytes('tokens', 'id', 'sealed');
      damages.push(await damage(client, round.random, spot, holder.id, idsOf(bad)));
      for (const tenant of keyTenants) damages.push(await damageKey(client, round, tenant.id));
      for (const [n, right] of RIGHTS.entries()) {
        const ids = idsOf(applications.filter((_, index) => index % (RIGHTS.length + 1) === n));
        damages.push(await damage(client, round.random, right, holder.id, ids));
      }
      const node = await cluster.startExtra({ STRONGROOM_DATABASE_URL: cluster.postgres.url('service') });
      const look: Look = { round, node, holder, keyTenants, keyTokens: keyTokens.flat(), applications };
      await lookAtTokens(look, bad, tokens.slice(size.tokens));
      await lookAtKeys(look, false);
      await lookAtRights(look, damages, path, before);
      await checkVerify(round, damages);
      for (const { mend } of damages.splice(0)) await mend();
      await inParallel(bad, (token) => expectToken(look, holder, token, true));
      await lookAtKeys(look, true);
      if (!node.isRunning()) round.violate('the node ended over damaged rows');
      await node.end('SIGTERM');
    } finally {
      for (const { mend } of damages) await mend().catch(() => {});
      await client.end();
    }
    return async () => {};
  },
};

interface Look {
  readonly round: Round;
  readonly node: ApiNode;
  readonly holder: LoadTenant;
  readonly keyTenants: readonly LoadTenant[];
  readonly keyTokens: readonly Made[];
  readonly applications: readonly Made[];
}

async function makeTenants(round: Round, count: number): Promise<LoadTenant[]> {
  const made: LoadTenant[] = [];
  const numbers = Array.from({ length: count }, (_, n) => n);
  const port = round.cluster.nodes[0]?.port ?? 0;
  await inParallel(
    numbers,
    async (n) => void made.push(await makeTenant(round.cluster.settings, port, round.cluster.tenants.length + n)),
    2,
  );
  return made;
}

/** Each may read any token of the tenant. */
async function makeApplications(round: Round, tenant: LoadTenant, count: number): Promise<Made[]> {
  const made: Made[] = [];
  await inParallel(
    Array.from({ length: count }, (_, n) => n),
    async (n) => {
      const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }];
      // With rules or with permissions, so that a flipped byte finds something to grant in either.
      const rights = n % 2 === 0 ? { rules } : { permissions: ['token:read', 'token:search'] };
      const body = { name: `of ${n}`, type: 'private', ...rights };
      const ending = await ask(round, 0, 'POST', '/applications', tenant.managementKey, body);
      if (ending.kind !== 'answered' || ending.status !== 201) throw new Error(`none: ${JSON.stringify(ending)}`);
      made.push({ id: textAt(ending.body, 'id'), value: textAt(ending.body, 'key') });
    },
    4,
  );
  return made;
}

/** One of the tenant's keys, whichever the seed says. */
async function damageKey(client: pg.Client, round: Round, tenantId: string): Promise<Damage> {
  const { rows } = await client.query<{ kind: string }>(
    'SELECT kind FROM tenant_keys WHERE tenant_id = $1 ORDER BY kind, version',
    [tenantId],
  );
  const { kind } = round.random.pick(rows);
  return damage(client, round.random, bytes('tenant_keys', 'kind', 'wrapped'), tenantId, [kind]);
}

async function lookAtTokens(look: Look, bad: readonly Made[], good: readonly Made[]): Promise<void> {
  await inParallel(bad, (token) => expectToken(look, look.holder, token, false));
  await inParallel(good, (token) => expectToken(look, look.holder, token, true));
  const [first] = bad;
  const body = { value: `{{ ${first?.id} }}` };
  const ending = await askNode(look, 'POST', '/detokenize', look.holder.tokenKey, body);
  if (ending.kind !== 'answered' || ending.status !== 503) look.round.violate(`detokenized: ${JSON.stringify(ending)}`);
  if (first) await expectLogged(look, first.id);
}

/** A tenant whose key does not open is refused what needs it; nobody else is. */
async function lookAtKeys(look: Look, isGood: boolean): Promise<void> {
  for (const [n, tenant] of look.keyTenants.entries()) {
    const token = look.keyTokens[n];
    if (token) await expectToken(look, tenant, token, isGood);
    const made = await askNode(look, 'POST', '/tokens', tenant.tokenKey, { type: 'token', data: 'new' });
    const status = made.kind === 'answered' ? made.status : 0;
    if (status !== (isGood ? 201 : 503))
      look.round.violate(`tenant with ${isGood ? 'a good' : 'a bad'} key: ${status}`);
  }
}

/** Damaged rights open nothing; those beside them open what they did before. */
async function lookAtRights(
  look: Look,
  damages: readonly Damage[],
  path: string,
  before: ReadonlyMap<string, number>,
): Promise<void> {
  const { round, applications } = look;
  if (![...before.values()].includes(200)) round.violate('no application could read a token to begin with');
  const damaged = new Set(damages.flatMap(({ keys }) => keys));
  const after = await statuses(round, look.node.port, path, applications);
  for (const [id, status] of after) {
    const isRight = damaged.has(id) ? status === 503 || status === 401 : status === before.get(id);
    if (!isRight) round.violate(`application with ${damaged.has(id) ? 'damaged' : 'good'} rights: ${status}`);
  }
  // A key whose hash was hit is simply unknown, and no fault of anybody.
  const refused = applications.find(({ id }) => after.get(id) === 503);
  if (refused) {
    // Only the end of what a node prints is kept.
    await statuses(round, look.node.port, path, [refused]);
    await expectLogged(look, refused.id);
  } else round.violate('no application with damaged rights was found out');
}

async function statuses(round: Round, port: number, path: string, applications: readonly Made[]) {
  const found = new Map<string, number>();
  await inParallel(applications, async ({ id, value }) => {
    const ending = await ask(round, port, 'GET', path, value);
    found.set(id, ending.kind === 'answered' ? ending.status : 0);
  });
  return found;
}

async function expectToken(look: Look, tenant: LoadTenant, token: Made, isGood: boolean): Promise<void> {
  const ending = await askNode(look, 'GET', `/tokens/${token.id}`, tenant.tokenKey);
  const status = ending.kind === 'answered' ? ending.status : 0;
  const data = ending.kind === 'answered' ? textAt(ending.body, 'data') : '';
  if (isGood ? status === 200 && data === token.value : status === 503 && data === '') return;
  look.round.violate(`${isGood ? 'whole' : 'damaged'} token ${token.id}: ${status}${data && ' and data'}`);
}

async function expectLogged({ node, round }: Look, id: string): Promise<void> {
  const deadlineMs = performance.now() + LOG_MAX_MS;
  const isThere = (): boolean =>
    node
      .output()
      .split('\n')
      .some((line) => line.includes('integrity_fault') && line.includes(id));
  while (!isThere() && performance.now() < deadlineMs) await wait(50);
  if (!isThere()) round.violate(`no integrity_fault in the security log names ${id}`);
}

/** It names every damaged row and no other. */
async function checkVerify(round: Round, damages: readonly Damage[]): Promise<void> {
  const expected = damages.reduce((sum, { keys }) => sum + keys.length, 0);
  const { code, stdout, stderr } = await round.cluster.command('keys', 'verify');
  const named = stdout.split('\n').filter((line) => line.startsWith('fault  ')).length;
  if (code !== 1 || named !== expected || !stderr.includes(`do not open: ${expected}.`))
    round.violate(`keys verify ended with ${code}, named ${named} of ${expected}: ${stderr.slice(-200)}`);
}

function askNode(look: Look, method: 'GET' | 'POST', path: string, key: string, body?: unknown): Promise<Ending> {
  return ask(look.round, look.node.port, method, path, key, body);
}

const idsOf = (made: readonly Made[]): string[] => made.map(({ id }) => id);

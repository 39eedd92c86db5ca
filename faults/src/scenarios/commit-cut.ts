import type { TcpProxy } from '@strongroom/test-servers/tcp-proxy.js';
import { startTcpProxy } from '@strongroom/test-servers/tcp-proxy.js';
import { call } from '../call.js';
import type { Cut, FollowedTransaction } from '../cut-transaction.js';
import { followTransaction } from '../cut-transaction.js';
import type { ApiNode } from '../node.js';
import { textAt } from '../plan.js';
import type { Round, Scenario } from '../scenario.js';
import { asSuperuser } from '../superuser.js';

const TIMEOUT_MS = 15_000;
const SAMPLES = 6;
const ID_DIGITS = 6;
const PASSING_MAX = 9;
const MEASURES_MAX = 10;
const AIMS_MAX = 8;
const DIFFERENCE_BYTES_MAX = 100;

/** What a client was told about one change. */
type Told = 'done' | 'undone' | 'unsure';

interface Change {
  readonly id: string;
  readonly key: string | undefined;
  readonly cut: Cut | undefined;
  told: Told | undefined;
  /** After the same request under the same key went through. */
  isRepeated: boolean;
}

/**
 * One change after the other on a node and a way of their own, each cut one byte further; the load on the other nodes goes
 * on. The long form takes every byte of the whole transaction, the short one every byte of the COMMIT and its answer, and
 * some of the rest.
 */
export const commitCut: Scenario = {
  name: 'commit-cut',
  about: 'the connection breaks after every byte of the exchange of one change, either way',
  needs: [],
  shortCount: 1,
  longCount: 1,
  load: { workersPerTenant: 1, pauseMs: [50, 200] },
  async inject(round) {
    const { cluster } = round;
    const proxy = await startTcpProxy(cluster.postgres.port);
    const node = await cluster.startExtra({
      STRONGROOM_DATABASE_URL: cluster.postgres.url('service', undefined, proxy.port),
      STRONGROOM_DATABASE_WRITE_CONNECTIONS_MAX: '1',
    });
    const changes: Change[] = [];
    const way: Way = { round, node, proxy, changes };
    try {
      for (const isKeyed of [false, true]) await cutEverywhere(way, isKeyed);
    } finally {
      await node.end('SIGTERM');
      await proxy.close();
    }
    return async () => checkChanges(round, changes);
  },
};

interface Way {
  readonly round: Round;
  readonly node: ApiNode;
  readonly proxy: TcpProxy;
  readonly changes: Change[];
}

/** A cut at the first byte makes the change that follows begin on a new connection, and so all of them alike. */
const AT_ONCE: Cut = { direction: 'up', from: 'BEGIN', after: 0 };

async function cutEverywhere(way: Way, isKeyed: boolean): Promise<void> {
  const { passing, whole } = await measure(way, isKeyed);
  for (const cut of cutsOf(way.round, whole)) {
    if (!(await isCutMade(way, isKeyed, passing, cut)))
      way.round.violate(`the exchange was over before byte ${cut.after} ${cut.direction} from ${cut.from}`);
  }
}

/** Values differ by some bytes from change to change: this one had no such byte before its COMMIT, whose bytes come too. */
function isPastCommit({ beforeCommit }: FollowedTransaction, { direction, from, after }: Cut): boolean {
  const past = after - (beforeCommit?.[direction] ?? 0);
  return from === 'BEGIN' && beforeCommit !== undefined && past > 0 && past <= DIFFERENCE_BYTES_MAX;
}

/** Something of the node's own may come in between, and the transaction that is followed is then another one. */
async function isCutMade(way: Way, isKeyed: boolean, passing: number, cut: Cut): Promise<boolean> {
  for (let aim = 0; aim < AIMS_MAX; aim += 1) {
    const transaction = await change(way, { isKeyed, passing, cut });
    if (transaction.isCut || isPastCommit(transaction, cut)) return true;
    await change(way, { isKeyed: false, passing: 0, cut: AT_ONCE });
  }
  return false;
}

/**
 * As many transactions twice in a row: a node that has just started has things of its own to write. Values differ by some
 * bytes from change to change, so what counts is where COMMIT begins. Of the two the one with less behind it: what a node writes
 * for itself right after a change would be taken for bytes of its COMMIT.
 */
async function measure(way: Way, isKeyed: boolean): Promise<{ passing: number; whole: FollowedTransaction }> {
  let last: { readonly passing: number; readonly whole: FollowedTransaction } | undefined;
  for (let n = 0; n < MEASURES_MAX; n += 1) {
    await change(way, { isKeyed: false, passing: 0, cut: AT_ONCE });
    // Under a key another transaction may come before: it is the last that makes the change.
    const passing = (await change(way, { isKeyed, passing: PASSING_MAX })).begun - 1;
    await change(way, { isKeyed: false, passing: 0, cut: AT_ONCE });
    const whole = await change(way, { isKeyed, passing });
    await change(way, { isKeyed: false, passing: 0, cut: AT_ONCE });
    if (passing === last?.passing && whole.beforeCommit && last.whole.beforeCommit)
      return { passing, whole: behindCommit(whole) < behindCommit(last.whole) ? whole : last.whole };
    last = { passing, whole };
  }
  throw new Error('no two changes went the same way');
}

function behindCommit({ seen, beforeCommit }: FollowedTransaction): number {
  return seen.up + seen.down - (beforeCommit?.up ?? 0) - (beforeCommit?.down ?? 0);
}

function cutsOf(round: Round, { seen, beforeCommit }: FollowedTransaction): Cut[] {
  if (!beforeCommit) throw new Error('no COMMIT was seen');
  return (['up', 'down'] as const).flatMap((direction) => {
    const before = beforeCommit[direction];
    const early = round.isLong ? upTo(before) : Array.from({ length: SAMPLES }, () => round.random.between(0, before));
    return [
      ...early.map((after) => ({ direction, from: 'BEGIN', after }) as const),
      ...upTo(seen[direction] - before).map((after) => ({ direction, from: 'COMMIT', after }) as const),
    ];
  });
}

const upTo = (last: number): number[] => Array.from({ length: last + 1 }, (_, n) => n);

interface Wanted {
  readonly isKeyed: boolean;
  readonly passing: number;
  readonly cut?: Cut;
}

async function change(way: Way, { isKeyed, passing, cut }: Wanted): Promise<FollowedTransaction> {
  const { round, node, proxy, changes } = way;
  const id = `cut-${round.id}-${String(changes.length).padStart(ID_DIGITS, '0')}`;
  const made: Change = { id, cut, key: isKeyed ? `key-${id}` : undefined, told: undefined, isRepeated: false };
  changes.push(made);
  const transaction = followTransaction(proxy, passing, cut);
  made.told = await send(round, node, made);
  proxy.setHook(undefined);
  if (made.told === 'unsure' && isKeyed) {
    made.isRepeated = true;
    made.told = await send(round, node, made);
    if (made.told !== 'done') round.violate(`${id}: repeated under its key, and told ${made.told}`);
    await change(way, { isKeyed: false, passing: 0, cut: AT_ONCE });
  }
  return transaction;
}

async function send(round: Round, node: ApiNode, { id, key }: Change): Promise<Told | undefined> {
  const [tenant] = round.cluster.tenants;
  const ending = await call({
    port: node.port,
    method: 'POST',
    path: '/tokens',
    key: tenant?.tokenKey ?? '',
    trace: id,
    body: { id, type: 'token', data: id, metadata: { id }, search_indexes: ['{{ data }}'] },
    headers: {
      'X-Forwarded-For': `10.8.${round.random.between(0, 255)}.${round.random.between(1, 254)}`,
      ...(key !== undefined && { 'SVC-IDEMPOTENCY-KEY': key }),
    },
    timeoutMs: TIMEOUT_MS,
  });
  if (ending.kind === 'answered') {
    const detail = textAt(ending.body, 'detail');
    if (ending.status === 201) return 'done';
    if (ending.status === 503 && detail.includes('may or may not')) return 'unsure';
    if (ending.status === 503 && detail.includes('Nothing was')) return 'undone';
  }
  round.violate(`${id}: ${JSON.stringify(ending)}`);
  return undefined;
}

/** What was told is what is there, each with its one entry in the log. */
async function checkChanges(round: Round, changes: readonly Change[]): Promise<void> {
  const prefix = `cut-${round.id}-`;
  await asSuperuser(round.cluster.postgres, async (client) => {
    const count = async (sql: string): Promise<Map<string, number>> => {
      const { rows } = await client.query<{ id: string; n: number }>(sql, [prefix]);
      return new Map(rows.map(({ id, n }) => [id, n]));
    };
    const stored = await count('SELECT id, 1 AS n FROM tokens WHERE starts_with(id, $1)');
    const logged = await count(
      `SELECT entity_id AS id, count(*)::int AS n FROM logs WHERE starts_with(entity_id, $1) AND operation = 'create' GROUP BY 1`,
    );
    const kinds = new Set<string>();
    for (const { id, cut, told, isRepeated } of changes) {
      const [tokens, entries] = [stored.get(id) ?? 0, logged.get(id) ?? 0];
      if (!isRepeated) kinds.add(`${told} ${tokens}`);
      const isRight = tokens === entries && (told === 'unsure' || tokens === (told === 'done' ? 1 : 0));
      const where = cut ? `cut ${cut.direction} ${cut.after} bytes from ${cut.from}` : 'not cut';
      if (!isRight) round.violate(`${id} (${where}): told ${told}, ${tokens} stored, ${entries} logged`);
    }
    // Without one of these the cuts were not where they were meant to be.
    for (const kind of ['done 1', 'undone 0', 'unsure 0', 'unsure 1'])
      if (!kinds.has(kind)) round.violate(`among ${changes.length} cuts there was none of the kind: ${kind}`);
  });
}

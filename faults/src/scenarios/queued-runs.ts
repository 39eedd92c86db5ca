import { call } from '../call.js';
import type { CodeUnderTest } from '../code-runs.js';
import { makeCode, ownAddress, react, tellOf, within } from '../code-runs.js';
import type { ApiNode } from '../node.js';
import { killTree } from '../processes.js';
import type { Round, Scenario, Undo } from '../scenario.js';

const SLOW =
  'module.exports = async ({ args, request_id }) => { await new Promise((done) => setTimeout(done, args.ms)); return { raw: { n: args.n, request_id } }; };';
const CALLS = 20;
const MS = 300;
/** A lease that nobody renews ends after half a minute, and what is tried again waits a little. */
const DONE_MAX_MS = 120_000;
const ANSWER_MAX_MS = 30_000;
let code: CodeUnderTest;

interface Accepted {
  readonly n: number;
  readonly id: string;
}

/** As many calls as are taken on for later; what is refused was never promised. */
async function queueCalls(node: ApiNode): Promise<Accepted[]> {
  const endings = await Promise.all(
    Array.from({ length: CALLS }, (_, n) => react(node, code, { n, ms: MS }, 'react-async')),
  );
  return endings.flatMap((ending, n) => {
    if (ending.kind !== 'answered' || ending.status !== 202) return [];
    const { asyncReactorRequestId: id = '' } = ending.body as { asyncReactorRequestId?: string }; // Its one member.
    return [{ n, id }];
  });
}

/** Every call that was taken on has its result, and that of no other. */
async function checkResults(round: Round, node: ApiNode, accepted: readonly Accepted[]): Promise<void> {
  if (accepted.length === 0) round.violate('no call was taken on');
  for (const { n, id } of accepted) {
    let told = '';
    const isDone = await within(DONE_MAX_MS, async () => {
      const ending = await call({
        ...{ port: node.port, method: 'GET', key: code.tenant.tokenKey, trace: 'result' },
        path: `/reactors/${code.id}/results/${id}`,
        headers: ownAddress(),
        timeoutMs: ANSWER_MAX_MS,
      });
      told = tellOf(ending);
      if (ending.kind !== 'answered' || ending.status !== 200) return false;
      const { raw } = ending.body as { raw?: { n?: number; request_id?: string } };
      if (raw?.n !== n || raw.request_id !== id) round.violate(`call ${id} has another result`);
      return true;
    });
    if (!isDone) round.violate(`call ${n} was taken on and lost: ${told}`);
  }
}

const common = {
  needs: [],
  shortCount: 1,
  async setUp(cluster: Round['cluster']) {
    code = await makeCode(cluster, 0, SLOW);
  },
} as const;

/** What was taken on outlives the node that took it on. */
export const apiKillWithQueue: Scenario = {
  ...common,
  name: 'api-kill-with-queue',
  about: 'kill -9 of a node with calls of Reactors queued and running, started again',
  longCount: 20,
  async inject(round): Promise<Undo> {
    const [victim, other] = round.cluster.nodes;
    if (!victim || !other) throw new Error('two nodes');
    const accepted = await queueCalls(victim);
    await round.pause(0, 1_000);
    await victim.end('SIGKILL');
    return async () => {
      await victim.start();
      await checkResults(round, other, accepted);
    };
  },
};

/** What was taken on outlives the database's process too. */
export const postgresKillWithQueue: Scenario = {
  ...common,
  name: 'postgres-kill-with-queue',
  about: 'kill -9 of PostgreSQL with calls of Reactors queued and running, started again',
  longCount: 20,
  async inject(round): Promise<Undo> {
    const { postgres, nodes } = round.cluster;
    const [node] = nodes;
    if (!node) throw new Error('a cluster has a node');
    const accepted = await queueCalls(node);
    await round.pause(0, 1_000);
    await killTree(postgres.pid());
    await postgres.end('SIGKILL');
    await round.pause(0, 1_000);
    return async () => {
      await postgres.start();
      await checkResults(round, node, accepted);
    };
  },
};

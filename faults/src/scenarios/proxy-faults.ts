import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import type { Ending } from '../call.js';
import { call } from '../call.js';
import { ownAddress, residentMb, tellOf, within } from '../code-runs.js';
import type { ApiNode } from '../node.js';
import type { Manner } from '../outside.js';
import { killTree } from '../processes.js';
import type { Round, Scenario, Undo } from '../scenario.js';

const MANNERS: readonly Manner[] = ['hangs', 'resets', 'cuts', 'garbage', 'slowly', 'well'];
const EXPECTED: Readonly<Record<string, string>> = {
  hangs: '408 destination_timeout',
  resets: '502 destination_unreachable',
  cuts: 'lost',
  garbage: '502 destination_unreachable',
  slowly: '200',
  well: '200',
};
/** Half a minute for a destination that says nothing, and room for a busy machine. */
const TOLD_MAX_MS = 60_000;
const SOON_MS = 20_000;
const CALLS = 1_000;
const GROWTH_MAX_MB = 150;
const ENOUGH_BYTES = 20 * 1_048_576;

const common = {
  needs: [],
  shortCount: 1,
  longCount: 20,
  async setUp({ outside }: Round['cluster']) {
    outside.mannerOf = (path) => [...MANNERS, 'endless' as const].find((manner) => path.includes(manner)) ?? 'well';
  },
} as const;

function nodeOf({ cluster }: Round): ApiNode {
  const [node] = cluster.nodes;
  if (!node) throw new Error('a cluster has a node');
  return node;
}

function keyOf({ cluster }: Round): string {
  return cluster.tenants[0]?.tokenKey ?? '';
}

function sendThrough(round: Round, path: string): Promise<Ending> {
  return call({
    ...{ port: nodeOf(round).port, method: 'POST', path: `/proxy${path}`, key: keyOf(round), trace: 'proxied' },
    body: { n: path },
    headers: { 'SVC-PROXY-URL': round.cluster.outside.url(''), ...ownAddress() },
    timeoutMs: TOLD_MAX_MS,
  });
}

/** As `tellOf`, of an answer whose problem stands inside. */
function toldOf(ending: Ending): string {
  if (ending.kind !== 'answered') return tellOf(ending);
  const { proxy_error: problem } = (ending.body ?? {}) as { proxy_error?: { code?: string } }; // Ours has this member.
  return `${ending.status} ${problem?.code ?? ''}`.trim();
}

/** A download without an end, from its first bytes on. */
function openEndless(round: Round): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { 'SVC-API-KEY': keyOf(round), 'SVC-PROXY-URL': round.cluster.outside.url(''), ...ownAddress() };
    const asked = request({ host: '127.0.0.1', port: nodeOf(round).port, path: `/proxy/${round.id}/endless`, headers });
    asked.once('error', reject);
    asked.once('response', (response) => {
      response.on('error', () => {});
      resolve(response);
    });
    asked.end();
  });
}

function readSome(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    response.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes >= ENOUGH_BYTES) resolve();
    });
    response.once('close', () => resolve());
  });
}

/** Somebody else sits where the destination was: it is sent nothing. */
async function changeCertificate(round: Round): Promise<void> {
  const { outside } = round.cluster;
  outside.pretend(true);
  const pretended = toldOf(await sendThrough(round, `/${round.id}/pretended`));
  outside.pretend(false);
  if (pretended !== EXPECTED.resets) round.violate(`a certificate that nobody trusts: ${pretended}`);
  if (outside.received.some(({ path }) => path.includes(`${round.id}/pretended`)))
    round.violate('a stranger was sent it');
  const again = toldOf(await sendThrough(round, `/${round.id}/again`));
  if (again !== '200') round.violate(`its own certificate again: ${again}`);
}

/** Destinations that do everything wrong: each call is told what became of it, in time, and nothing stays behind. */
export const destinationFaults: Scenario = {
  ...common,
  name: 'destination-faults',
  about: 'destinations of Proxies that hang, reset, cut, answer garbage, slowly or without end, or change certificates',
  async inject(round): Promise<Undo> {
    const { outside } = round.cluster;
    const node = nodeOf(round);
    const beforeMb = await residentMb(node);
    const startedMs = performance.now();
    const wrong = MANNERS.flatMap((manner) =>
      Array.from({ length: 5 }, async (_, n) => {
        const ending = await sendThrough(round, `/${round.id}/${manner}/${n}`);
        const told = ending.kind === 'lost' ? 'lost' : toldOf(ending);
        if (told !== EXPECTED[manner]) round.violate(`a destination that ${manner}: ${told}`);
      }),
    );
    const endless = await openEndless(round);
    await readSome(endless);
    endless.destroy();
    await Promise.all(wrong);
    await changeCertificate(round);
    if (performance.now() - startedMs > TOLD_MAX_MS) round.violate('told too late');
    return async () => {
      if (!(await within(SOON_MS, async () => outside.endless === 0))) round.violate('a download nobody reads goes on');
      const isBack = await within(SOON_MS, async () => (await residentMb(node)) < beforeMb + GROWTH_MAX_MB);
      if (!isBack) round.violate(`${Math.round((await residentMb(node)) - beforeMb)} MB more than before`);
    };
  },
};

/** Without the entry nothing is sent. */
export const postgresGoneForProxy: Scenario = {
  ...common,
  name: 'postgres-gone-for-proxy',
  about: 'kill -9 of PostgreSQL, then calls through a Proxy: refused, and nothing is sent',
  async inject(round): Promise<Undo> {
    const { outside, postgres } = round.cluster;
    const first = toldOf(await sendThrough(round, `/${round.id}/before`));
    if (first !== '200') round.violate(`before: ${first}`);
    await killTree(postgres.pid());
    await postgres.end('SIGKILL');
    for (let n = 0; n < 5; n += 1) {
      const told = toldOf(await sendThrough(round, `/${round.id}/during/${n}`));
      if (told !== '503 storage_unavailable') round.violate(`without PostgreSQL: ${told}`);
    }
    if (outside.received.some(({ path }) => path.includes(`${round.id}/during`))) round.violate('something was sent');
    return async () => {
      await postgres.start();
      const isBack = await within(
        SOON_MS,
        async () => toldOf(await sendThrough(round, `/${round.id}/after`)) === '200',
      );
      if (!isBack) round.violate('calls do not come back');
    };
  },
};

/** A node dies in the middle of a download: the client sees it break off, and the destination is left. */
export const apiKillDuringStream: Scenario = {
  ...common,
  name: 'api-kill-during-stream',
  about: 'kill -9 of a node in the middle of an answer through a Proxy, started again',
  async inject(round): Promise<Undo> {
    const { outside } = round.cluster;
    const node = nodeOf(round);
    const endless = await openEndless(round);
    await readSome(endless);
    const broken = new Promise<boolean>((resolve) => endless.once('close', () => resolve(!endless.complete)));
    await node.end('SIGKILL');
    if (!(await broken)) round.violate('half an answer was taken for the whole');
    if (!(await within(SOON_MS, async () => outside.endless === 0))) round.violate('the destination goes on sending');
    return async () => {
      await node.start();
      const told = toldOf(await sendThrough(round, `/${round.id}/after`));
      if (told !== '200') round.violate(`afterwards: ${told}`);
    };
  },
};

/** A thousand calls at once: each is answered in time, by its destination or with a refusal, and memory comes back. */
export const proxyStorm: Scenario = {
  ...common,
  name: 'proxy-storm',
  about: '1,000 calls through a Proxy at once on one node',
  longCount: 10,
  async inject(round): Promise<Undo> {
    const node = nodeOf(round);
    await sendThrough(round, `/${round.id}/first`);
    const beforeMb = await residentMb(node);
    const startedMs = performance.now();
    const endings = await Promise.all(
      Array.from({ length: CALLS }, (_, n) => sendThrough(round, `/${round.id}/well/${n}`)),
    );
    if (performance.now() - startedMs > TOLD_MAX_MS) round.violate('told too late');
    const told = endings.map(toldOf);
    const odd = told.filter((each) => !/^(200|503 overloaded|429 rate_limited)$/.test(each));
    if (odd.length > 0) round.violate(`${odd.length} of ${CALLS}: ${odd[0]}`);
    if (!told.includes('200')) round.violate('none was answered');
    return async () => {
      const isBack = await within(SOON_MS, async () => (await residentMb(node)) < beforeMb + GROWTH_MAX_MB);
      if (!isBack) round.violate(`${Math.round((await residentMb(node)) - beforeMb)} MB more than before`);
    };
  },
};

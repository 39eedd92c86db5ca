import { NAME_ERROR, SERVER_FAILURE } from '@strongroom/test-servers/name-server.js';
import type { CodeUnderTest } from '../code-runs.js';
import { makeCode, react, residentMb, tellOf, within } from '../code-runs.js';
import type { ApiNode } from '../node.js';
import type { Manner, Outside } from '../outside.js';
import { INSIDE } from '../outside.js';
import type { Round, Scenario, Undo } from '../scenario.js';

const ECHO = 'module.exports = async ({ args }) => ({ raw: args.n });';
const FETCH = 'module.exports = async ({ args }) => ({ raw: await (await fetch(args.url)).text() });';
const MANNERS: readonly Manner[] = ['hangs', 'resets', 'garbage', 'endless', 'well'];
const CALLS = 20;
/** The first three waits between deliveries, and the time one may hang, with room for a busy machine. */
const DELIVERED_MAX_MS = 120_000;
const GROWTH_MAX_MB = 150;
const RUN_MAX_MS = 40_000;
let code: CodeUnderTest;

const common = { needs: [], shortCount: 1, longCount: 20 } as const;

function firstNode({ cluster }: Round): ApiNode {
  const [node] = cluster.nodes;
  if (!node) throw new Error('a cluster has a node');
  return node;
}

/** Callbacks that do everything wrong: what was taken on is delivered when they do right again. */
export const callbackFaults: Scenario = {
  ...common,
  name: 'callback-faults',
  about: 'callbacks of Reactors that hang, reset, answer garbage or without end, and do right again later',
  async setUp(cluster) {
    code = await makeCode(cluster, 0, ECHO);
  },
  async inject(round): Promise<Undo> {
    const { outside } = round.cluster;
    const node = firstNode(round);
    const beforeMb = await residentMb(node);
    const mannerIn = (path: string): Manner => MANNERS.find((manner) => path.includes(manner)) ?? 'well';
    outside.mannerOf = mannerIn;
    const paths = Array.from({ length: CALLS }, (_, n) => `/${round.id}/${MANNERS[n % MANNERS.length]}/${n}`);
    const endings = await Promise.all(
      paths.map((path, n) => react(node, code, { n }, 'react', { callback_url: outside.url(path) })),
    );
    const accepted = paths.filter((_, n) => endings[n] && tellOf(endings[n]) === '202');
    if (accepted.length === 0) round.violate('no call was taken on');
    const firstTry = () => accepted.every((path) => outside.received.some((each) => each.path === path));
    if (!(await within(DELIVERED_MAX_MS, async () => firstTry()))) round.violate('some callbacks were not tried');
    return async () => {
      outside.mannerOf = () => 'well';
      await checkDelivered(round, accepted);
      const isBack = await within(RUN_MAX_MS, async () => (await residentMb(node)) < beforeMb + GROWTH_MAX_MB);
      if (!isBack) round.violate(`${Math.round((await residentMb(node)) - beforeMb)} MB more than before`);
    };
  },
};

/** Each by its own result; one whose answer had no end was delivered by its status. */
async function checkDelivered(round: Round, paths: readonly string[]): Promise<void> {
  const { outside } = round.cluster;
  for (const path of paths) {
    const delivered = () =>
      outside.received.find((each) => each.path === path && (each.manner === 'well' || each.manner === 'endless'));
    if (!(await within(DELIVERED_MAX_MS, async () => delivered() !== undefined))) {
      round.violate(`${path} was taken on and not delivered`);
    }
    const body = delivered()?.body;
    if (body !== undefined && body !== JSON.stringify({ raw: Number(path.split('/').at(-1)) })) {
      round.violate(`${path} was sent ${body}`);
    }
  }
}

/** Answers for the name of another company, none of which may lead anywhere but to it. */
const NAMES: readonly (readonly [string, Outside['addresses']])[] = [
  ['a name server that fails', SERVER_FAILURE],
  ['a name that is gone', NAME_ERROR],
  ['a name server that is silent', undefined],
  ['a name without addresses', []],
  ['a name that leads inside', [INSIDE]],
  ['a name that leads to a neighbour', ['10.0.0.1']],
  ['a name that leads to the metadata of a cloud', ['169.254.169.254']],
  ['a name that leads outside and inside', ['127.0.0.1', INSIDE]],
];

/** Names that fail, change or point inside: code is told in time, nothing inside is touched, and afterwards it works again. */
export const nameFaults: Scenario = {
  ...common,
  name: 'name-faults',
  about: 'DNS that fails, is silent, changes its mind or points inside while code asks for another company',
  async setUp(cluster) {
    code = await makeCode(cluster, 0, FETCH);
  },
  async inject(round): Promise<Undo> {
    const { outside } = round.cluster;
    const node = firstNode(round);
    if (!(await outside.isCounting())) round.violate('connections inside are not counted');
    for (const [what, addresses] of NAMES) {
      await expectAsked(round, node, ['127.0.0.1'], 'a name that leads outside', true);
      await expectAsked(round, node, addresses, what, false);
    }
    return async () => {
      await expectAsked(round, node, ['127.0.0.1'], 'the name afterwards', true);
      if (outside.trespasses > 0) round.violate(`${outside.trespasses} connections to an address inside`);
    };
  },
};

async function expectAsked(
  round: Round,
  node: ApiNode,
  addresses: Outside['addresses'],
  what: string,
  isReached: boolean,
): Promise<void> {
  const { outside } = round.cluster;
  outside.addresses = addresses;
  const startedMs = performance.now();
  const told = tellOf(await react(node, code, { url: outside.urlByName(`/${round.id}`) }));
  const expected = isReached ? '200' : '500 reactor_error';
  if (told !== expected) round.violate(`${what}: ${told}, not ${expected}`);
  if (performance.now() - startedMs > RUN_MAX_MS) round.violate(`${what}: told too late`);
}

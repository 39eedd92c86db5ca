import type { CodeUnderTest } from '../code-runs.js';
import { enginesOf, makeCode, react, residentMb, tellOf, within } from '../code-runs.js';
import type { Scenario, Undo } from '../scenario.js';

const ECHO = 'module.exports = async ({ args }) => ({ raw: args.n });';
const CALLS = 1_000;
/** One that waits is refused after 10 s; the rest is what a thousand answers take on a machine that others use too. */
const ANSWERED_MAX_MS = 45_000;
const INSTANCES_MAX = 34;
const GROWTH_MAX_MB = 150;
const CALM_MS = 30_000;
let codes: CodeUnderTest[];

/** A thousand runs at once: each is answered in time, with its own answer or a refusal, and memory comes back. */
export const codeStorm: Scenario = {
  name: 'code-storm',
  about: '1,000 runs of Reactors at once on one node',
  needs: [],
  shortCount: 1,
  longCount: 10,
  async setUp(cluster) {
    codes = await Promise.all([0, 1, 2].map((tenant) => makeCode(cluster, tenant, ECHO)));
  },
  async inject(round): Promise<Undo> {
    const [node] = round.cluster.nodes;
    if (!node) throw new Error('a cluster has a node');
    for (const code of codes) await react(node, code, { n: 0 });
    const beforeMb = await residentMb(node);
    const startedMs = performance.now();
    const endings = await Promise.all(
      Array.from({ length: CALLS }, async (_, n) => {
        const code = codes[n % codes.length] ?? codes[0];
        return code && ([n, await react(node, code, { n })] as const);
      }),
    );
    const tookMs = performance.now() - startedMs;
    if (tookMs > ANSWERED_MAX_MS) round.violate(`${Math.round(tookMs)} ms for ${CALLS} runs`);
    let done = 0;
    for (const [n, ending] of endings.flatMap((each) => (each ? [each] : []))) {
      const told = tellOf(ending);
      if (told === '200') done += 1;
      else if (!/^(503 overloaded|429 rate_limited)$/.test(told)) round.violate(`run ${n}: ${told}`);
      const raw = ending.kind === 'answered' ? (ending.body as { raw?: unknown }).raw : undefined;
      if (told === '200' && raw !== n) round.violate(`run ${n} was answered ${JSON.stringify(raw)}`);
    }
    if (done === 0) round.violate('none of the runs was done');
    if ((await enginesOf(node)).length > INSTANCES_MAX) round.violate('more engines than there may be');
    return async () => {
      const isBack = await within(CALM_MS, async () => (await residentMb(node)) < beforeMb + GROWTH_MAX_MB);
      if (!isBack) round.violate(`${Math.round((await residentMb(node)) - beforeMb)} MB more than before`);
    };
  },
};

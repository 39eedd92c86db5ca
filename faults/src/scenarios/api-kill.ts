import type { Round, Scenario } from '../scenario.js';

/** kill -9 of one of two nodes: what it was at is whole or absent, and the other one does not notice. */
export const apiKill: Scenario = {
  name: 'api-kill',
  about: 'kill -9 of one of two API nodes, started again',
  needs: [],
  shortCount: 2,
  longCount: 100,
  async inject(round) {
    const victim = round.random.pick(round.cluster.nodes);
    const fromMs = performance.now();
    await victim.end('SIGKILL');
    await round.pause(0, 500);
    return async () => {
      await victim.start();
      checkOther(round, victim.index, fromMs, performance.now());
    };
  },
};

/** Of what began on the other node meanwhile and is over, everything was done. */
function checkOther(round: Round, victim: number, fromMs: number, toMs: number): void {
  const attempts = round.journal.operations.flatMap((operation) => operation.attempts);
  const meanwhile = attempts.filter(
    ({ node, startedMs, endedMs, outcome }) =>
      node !== victim && startedMs >= fromMs && endedMs <= toMs && outcome !== 'pending',
  );
  if (meanwhile.length === 0) round.violate('the other node answered nothing meanwhile');
  for (const { trace, note, outcome } of meanwhile) {
    // A request repeated under its key may be told that the first one is not over.
    if (outcome !== 'acknowledged' && !note.includes('idempotency_in_flight')) {
      round.violate(`the other node failed: ${trace} ${note}`);
    }
  }
}

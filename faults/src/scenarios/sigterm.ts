import type { Attempt } from '../journal.js';
import type { Round, Scenario } from '../scenario.js';
import { asSuperuser } from '../superuser.js';

/** A node is asked to stop in the middle of its work: it answers what it has taken, and ends well. */
export const sigterm: Scenario = {
  name: 'sigterm',
  about: 'SIGTERM of one of two API nodes under load; it ends with 0 and has answered what it did',
  needs: [],
  shortCount: 2,
  longCount: 50,
  load: { workersPerTenant: 4, pauseMs: [0, 15] },
  async inject(round) {
    const victim = round.random.pick(round.cluster.nodes);
    const code = await victim.end('SIGTERM');
    if (code !== 0) round.violate(`node ${victim.index} ended with ${code}: ${victim.output().slice(-500)}`);
    return () => victim.start();
  },
  verify: checkAnswered,
};

/**
 * A request that crosses with the closing of its connection is lost without ever being read: nothing can prevent that. What
 * was read is answered, so what was lost must have left nothing.
 */
async function checkAnswered(round: Round): Promise<void> {
  const lost = round.journal.operations
    .flatMap(({ attempts }) => attempts)
    .filter(({ outcome, note }: Attempt) => outcome === 'unknown' && !note.startsWith('503'));
  await asSuperuser(round.cluster.postgres, async (client) => {
    const traces = lost.map(({ trace }) => trace);
    const { rows } = await client.query<{ trace_id: string }>(
      'SELECT DISTINCT trace_id FROM logs WHERE trace_id = ANY ($1)',
      [traces],
    );
    for (const { trace_id } of rows) round.violate(`${trace_id} was done and never answered`);
  });
  for (const { trace, note } of lost)
    if (note === 'no answer in time') round.violate(`${trace} was left without an answer`);
}

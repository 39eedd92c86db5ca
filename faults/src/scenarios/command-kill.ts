import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTokens } from '../beside-load.js';
import { checkInvariants } from '../checks/invariants.js';
import { makeDatabase } from '../databases.js';
import { outcomeOf } from '../journal.js';
import { killCommand } from '../killed-command.js';
import type { Settings } from '../product.js';
import { runCommand } from '../product.js';
import type { Round, Scenario, Undo } from '../scenario.js';
import { asSuperuser } from '../superuser.js';
import { makeTenant } from '../tenants.js';

const EXIT_CONFIGURATION = 78;
/** Too long for the short form, and nothing to mend: what was killed is run again on the spot. */
const COMMON = { needs: [], shortCount: 0, load: { workersPerTenant: 1, pauseMs: [20, 100] } } as const;
const nothingToMend: Undo = async () => {};

/** Both rotations wait half a minute before they end, so the short form leaves them where the kill did. */
export const rotationKill: Scenario = {
  ...COMMON,
  name: 'rotation-kill',
  about: 'kill -9 of keys rotate and rotate-root under load; everything opens in between, and a last run ends it',
  longCount: 5,
  async inject(round) {
    for (const words of [
      ['keys', 'rotate', '--all'],
      ['keys', 'rotate-root'],
    ]) {
      const kills = round.isLong ? round.random.between(2, 4) : 1;
      for (let n = 0; n < kills; n += 1) await kill(round, round.cluster.settings, words, 2_000);
      if (round.isLong) await finish(round, round.cluster.settings, words);
    }
    return nothingToMend;
  },
};

export const importKill: Scenario = {
  ...COMMON,
  name: 'import-kill',
  about: 'kill -9 of tokens import under load; run again it brings what is left, each token once',
  longCount: 10,
  async inject(round) {
    const { cluster } = round;
    const count = round.isLong ? 5_000 : 600;
    const port = cluster.nodes[0]?.port ?? 0;
    const [from, to] = [await makeTenant(cluster.settings, port, 90), await makeTenant(cluster.settings, port, 91)];
    await createTokens(round, from, count);
    const folder = join(cluster.folder, `export-${round.id}`);
    const word = join(cluster.folder, `word-${round.id}`);
    await writeFile(word, round.random.text(30), { mode: 0o600 });
    const how = ['--passphrase-file', word];
    await finish(round, cluster.settings, ['tokens', 'export', '--tenant', from.id, '--out', folder, ...how]);
    const words = ['tokens', 'import', '--tenant', to.id, '--in', folder, ...how];
    for (let n = round.random.between(1, round.isLong ? 4 : 1); n > 0; n -= 1)
      await kill(round, cluster.settings, words, round.isLong ? 4_000 : 800);
    await finish(round, cluster.settings, words);
    await countTokens(round, to.id, count);
    return nothingToMend;
  },
};

/** What a backup was begun after is in it, and in what is restored from it. */
export const backupKill: Scenario = {
  ...COMMON,
  name: 'backup-kill',
  about: 'kill -9 of backup and of restore under load; run again both are whole',
  longCount: 10,
  async inject(round) {
    const { cluster } = round;
    const folder = (name: string): string => join(cluster.folder, `${name}-${round.id}`);
    const half = await kill(round, cluster.settings, ['backup', '--to', folder('half')], 300);
    const before = round.journal.operations.filter((operation) => outcomeOf(operation) === 'acknowledged');
    await finish(round, cluster.settings, ['backup', '--to', folder('whole')]);
    const database = await makeDatabase(cluster, `restored_${round.id}`);
    try {
      if (half) {
        const { code } = await runCommand(database.settings, 'restore', '--from', folder('half'));
        if (code === 0) round.violate('a backup that was killed could be restored');
      }
      const words = ['restore', '--from', folder('whole')];
      const killed = await kill(round, database.settings, words, 1_500);
      const again = await runCommand(database.settings, ...words);
      // Killed after its commit, or not at all, it has filled the database already; whether with all of it is seen below.
      const isFilled = again.code === EXIT_CONFIGURATION && again.stderr.includes('is not empty');
      if (again.code !== 0 && !isFilled) round.violate(`restore after ${killed}: ${again.code} ${again.stderr}`);
      await finish(round, database.settings, ['keys', 'verify']);
      await checkRestored(
        round,
        database.name,
        before.flatMap(({ expected, id }) => (expected && expected.length > 0 ? [id] : [])),
      );
    } finally {
      await database.drop();
    }
    return nothingToMend;
  },
};

function kill(round: Round, settings: Settings, words: readonly string[], withinMs: number) {
  return killCommand({ cluster: round.cluster, random: round.random, settings, words, withinMs });
}

async function finish(round: Round, settings: Settings, words: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await runCommand(settings, ...words);
  if (code !== 0) round.violate(`${words.slice(0, 2).join(' ')} ended with ${code}: ${stdout} ${stderr}`);
}

async function countTokens(round: Round, tenantId: string, count: number): Promise<void> {
  await asSuperuser(round.cluster.postgres, async (client) => {
    const { rows } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM tokens WHERE tenant_id = $1', [
      tenantId,
    ]);
    if (rows[0]?.n !== count) round.violate(`imported ${rows[0]?.n} of ${count} tokens`);
  });
}

async function checkRestored(round: Round, database: string, operations: readonly string[]): Promise<void> {
  await asSuperuser(
    round.cluster.postgres,
    async (client) => {
      await checkInvariants(client, false, (text) => round.violate(`restored: ${text}`));
      const { rows } = await client.query<{ trace_id: string }>(
        'SELECT DISTINCT trace_id FROM logs WHERE starts_with(trace_id, $1)',
        [`${round.id}-`],
      );
      const found = new Set(rows.map(({ trace_id: trace }) => trace.slice(0, trace.lastIndexOf('.'))));
      const missing = operations.filter((id) => !found.has(id));
      if (missing.length > 0) round.violate(`acknowledged before the backup and not in it: ${missing.join(', ')}`);
      if (operations.length === 0) round.violate('nothing was acknowledged before the backup');
    },
    database,
  );
}

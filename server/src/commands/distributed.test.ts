// needs: processes

import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { generateRootKey } from '../crypto/root-key.js';
import { distribute } from '../storage/distribution/distribute.js';
import { distributed, installCitusStandIn } from '../testing/citus-stand-in.js';
import { runToEnd, urlOf } from '../testing/command-runner.js';
import { describeSchema } from '../testing/empty-database.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { CommandFolders, Desk, EndedHere } from './command-cases-fixture.js';
import { commandCases, runHere, sitDown } from './command-cases-fixture.js';

const NOWHERE: CommandFolders = { passphraseFile: '', outside: '', backup: '' };

/**
 * Citus is not installed where these tests run: a table of our own stands in for the catalogue it keeps of what it has spread,
 * found by the name and the search path by which its own is found.
 */
describe('commands on a database that Citus has spread (stand-in catalogue)', () => {
  const rootKey = generateRootKey().reveal();
  let plain: TestDatabase;
  let spread: TestDatabase;
  let places: CommandFolders;
  let inside: string;
  let desk: Desk;

  const settingsOf = ({ target, ownerTarget }: TestDatabase) => ({
    STRONGROOM_DATABASE_URL: urlOf(target),
    STRONGROOM_MIGRATION_DATABASE_URL: urlOf(ownerTarget),
    STRONGROOM_ROOT_KEY: rootKey,
    STRONGROOM_PORT: '0',
  });

  before(async () => {
    const outside = await mkdtemp(join(tmpdir(), 'sr-spread-'));
    inside = await mkdtemp(join(tmpdir(), 'sr-spread-'));
    places = { passphraseFile: join(outside, 'passphrase'), outside, backup: join(outside, 'backup') };
    await writeFile(places.passphraseFile, 'six random words are good here', { mode: 0o600 });
    [plain, spread] = [await createTestDatabase(), await createTestDatabase()];
    desk = sitDown(inside);
    desk.settle(settingsOf(plain));
    const backedUp = await runHere('backup', ['--to', places.backup]);
    assert.equal(backedUp.code, 0, backedUp.stderr);
    await installCitusStandIn(spread.owner);
    await distribute(spread.ownerTarget);
  });
  after(async () => {
    desk?.leave();
    await plain?.drop();
    await spread?.drop();
    for (const folder of [places.outside, inside]) await rm(folder, { recursive: true, force: true });
  });

  async function asHalf(act: () => Promise<void>): Promise<void> {
    await spread.owner.query(`DELETE FROM stand_in.pg_dist_partition WHERE logicalrelid = 'tokens'::regclass`);
    try {
      await act();
    } finally {
      await spread.owner.query(
        `INSERT INTO stand_in.pg_dist_partition VALUES ('tokens', 'h', 'tenant_id', 'tenants', 100)`,
      );
    }
  }

  async function run(
    name: string,
    settings: Readonly<Record<string, string>>,
  ): Promise<Omit<EndedHere, 'code'> & { code: unknown }> {
    if (name === 'serve') return runToEnd(settings, 'serve');
    desk.settle(settings);
    return runHere(name, commandCases(places)[name]?.words);
  }

  for (const [name, { kind }] of Object.entries(commandCases(NOWHERE))) {
    if (kind === 'needs none' || name === 'migrate') continue;
    const isOfBackups = ['backup', 'restore'].includes(name);

    it(`78 from ${name} where some tables are not spread yet, with the owner known and without; nothing is changed`, async () => {
      await asHalf(async () => {
        const before = [await describeSchema(spread.owner), await distributed(spread.owner)];
        const both = settingsOf(spread);
        const { STRONGROOM_MIGRATION_DATABASE_URL: _, ...service } = both;
        for (const settings of isOfBackups ? [both] : [both, service]) {
          const { code, stdout, stderr } = await run(name, settings);
          const shown = `${stdout}${stderr}`;
          assert.equal(code, 78, shown);
          const words = isOfBackups
            ? /share no moment.*docs\/scaling\.md/
            : /not others \(.*migrate --distribute citus again/;
          assert.match(shown, words);
        }
        assert.deepEqual([await describeSchema(spread.owner), await distributed(spread.owner)], before);
      });
      const left = await readdir(inside, { recursive: true, withFileTypes: true });
      assert.deepEqual(
        left.filter((entry) => entry.isFile()),
        [],
      );
    });
  }

  for (const name of ['backup', 'restore']) {
    it(`78 from ${name} on a database that is spread, which shares no moment; nothing is changed`, async () => {
      const before = await describeSchema(spread.owner);
      const { code, stdout, stderr } = await run(name, settingsOf(spread));
      assert.equal(code, 78, `${stdout}${stderr}`);
      assert.match(`${stdout}${stderr}`, /share no moment.*docs\/scaling\.md.*Nothing was changed/);
      assert.deepEqual(await describeSchema(spread.owner), before);
    });
  }

  it('0 from migrate on a database that is spread, which finds nothing to do', async () => {
    const before = [await describeSchema(spread.owner), await distributed(spread.owner)];
    const { code, stdout, stderr } = await run('migrate', settingsOf(spread));
    assert.equal(code, 0, `${stdout}${stderr}`);
    assert.deepEqual([await describeSchema(spread.owner), await distributed(spread.owner)], before);
  });

  it('0 where Citus is installed and has spread none of our tables', async () => {
    await installCitusStandIn(plain.owner);
    await plain.owner.query('CREATE TABLE stand_in.of_somebody_else (id integer)');
    await plain.owner.query(`INSERT INTO stand_in.pg_dist_partition VALUES ('stand_in.of_somebody_else', 'h')`);
    const { code, stdout, stderr } = await run('doctor', settingsOf(plain));
    assert.equal(code, 0, `${stdout}${stderr}`);
  });
});

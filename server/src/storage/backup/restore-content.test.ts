import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { EXIT, ExitError } from '../../kernel/exit.js';
import { ANY_SEAL } from '../../testing/any-seal.js';
import type { EmptyDatabase } from '../../testing/empty-database.js';
import { createEmptyDatabase } from '../../testing/empty-database.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { makeScratch } from '../../testing/transfer.js';
import { backUp } from './back-up.js';
import { countRows, listTables } from './catalogue.js';
import { checkBackup, restore } from './restore.js';

const SECRET = 'content-of-a-row';
const quietly = { onProgress: () => {}, shouldStop: () => false };

interface Body {
  migrations: unknown[];
  tables: { name: string; bytes: number; sha256: string }[];
}

describe('a backup whose sums are right and whose content is not', () => {
  let app: TestApp;
  let scratch: Awaited<ReturnType<typeof makeScratch>>;
  let empty: EmptyDatabase;
  before(async () => {
    app = await startTestApp();
    await app.makeTenant();
    scratch = await makeScratch();
    empty = await createEmptyDatabase(app.db);
    const folder = join(scratch.path, 'whole');
    await backUp({
      owner: app.db.ownerTarget,
      folder,
      productVersion: '0.0.0',
      nowMs: 0,
      sealManifest: ANY_SEAL.sealManifest,
      ...quietly,
    });
  });
  after(async () => {
    await empty.drop();
    await app.close();
    await scratch.remove();
  });

  /** Every sum is made anew, as by somebody who may write to the folder. */
  async function forge(name: string, change: (body: Body, folder: string) => Promise<void> | void): Promise<string> {
    const folder = join(scratch.path, name);
    await cp(join(scratch.path, 'whole'), folder, { recursive: true });
    const body: Body = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'));
    await change(body, folder);
    const text = JSON.stringify(body);
    const sum = createHash('sha256').update(text).digest('hex');
    await writeFile(join(folder, 'manifest.json'), text);
    await writeFile(join(folder, 'SHA256SUMS'), `${sum}  manifest.json\n`);
    return folder;
  }

  const withRows = (table: string, content: Buffer) => async (body: Body, folder: string) => {
    await writeFile(join(folder, `${table}.copy.gz`), content);
    const entry = body.tables.find(({ name }) => name === table);
    assert.ok(entry);
    entry.bytes = content.length;
    entry.sha256 = createHash('sha256').update(content).digest('hex');
  };

  async function refusalOf(folder: string): Promise<string> {
    const migration = { owner: empty.ownerTarget, login: 'strongroom', createLogin: false };
    try {
      const manifest = await checkBackup(folder, ANY_SEAL.checkSeal, () => {});
      await restore({ migration, folder, manifest, ...quietly });
    } catch (error) {
      assert.ok(error instanceof ExitError && error.exitCode === EXIT.failure, String(error));
      return error.message;
    }
    return 'restored';
  }

  it('is damaged, in a sentence without its rows, and leaves none; never a lost connection or a stack', async () => {
    const cases: Record<string, readonly [RegExp, Parameters<typeof forge>[1]]> = {
      packed: [/tenants\.copy\.gz cannot be unpacked/, withRows('tenants', Buffer.from('no gzip'))],
      rows: [/tenants cannot be loaded \(22P02\)/, withRows('tenants', gzipSync(`${SECRET}\tx\n`))],
      references: [/cannot be loaded \(23503\)/, (body) => void body.tables.reverse()],
      folder: [
        /tenants\.copy\.gz is no file/,
        async (_, folder) => {
          await rm(join(folder, 'tenants.copy.gz'));
          await mkdir(join(folder, 'tenants.copy.gz'));
        },
      ],
      migrations: [/its manifest is not as a backup writes it/, (body) => void body.migrations.splice(0)],
    };
    for (const [name, [sentence, change]] of Object.entries(cases)) {
      const message = await refusalOf(await forge(name, change));
      assert.match(message, /^The backup is damaged or incomplete/, name);
      assert.match(message, sentence, name);
      assert.doesNotMatch(message, new RegExp(SECRET), name);
      for (const table of await listTables(empty.owner)) assert.equal(await countRows(empty.owner, table.name), 0);
    }
  });
});

// needs: processes

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

describe('strongroom migrate --distribute', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sr-migrate-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const run = (...words: string[]) =>
    new Promise<{ code: unknown; said: string }>((resolve) => {
      const own = Object.entries(process.env).filter(([name]) => !name.startsWith('STRONGROOM_'));
      const env = { ...Object.fromEntries(own), STRONGROOM_DATA_DIR: join(folder, 'data') };
      execFile(process.execPath, [MAIN, 'migrate', ...words], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, said: stdout + stderr }),
      );
    });

  it('64 for another word than citus, before anything is opened', async () => {
    const { code, said } = await run('--distribute', 'evenly');
    assert.equal(code, 64);
    assert.match(said, /distribute: must be citus/);
  });

  it('78 for citus on the embedded server, which is one, before anything is opened; 0 without the option', async () => {
    const refused = await run('--distribute', 'citus');
    assert.equal(refused.code, 78);
    assert.match(refused.said, /embedded server is one server.*docs\/scaling\.md.*Nothing was changed/);
    assert.ok(!existsSync(join(folder, 'data')));
    const { code, said } = await run();
    assert.equal(code, 0, said);
    assert.match(said, /Applied: roles, keys, tenants/);
  });
});

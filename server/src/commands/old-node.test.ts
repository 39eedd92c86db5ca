// needs: processes

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { complaintAbout } from '../../bin/require-node.cjs';

const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url));
const MAIN = join(CHECKOUT, 'server/dist/main.js');
const CHECK = join(CHECKOUT, 'server/bin/require-node.cjs');
const OLD = 'v18.20.4';
const FIRST_LINE = /^strongroom: Node 20\.19\.0 or newer is needed, and this is Node 18\.20\.4\. .*\n$/;

describe('a Node that is too old', () => {
  let folder: string;
  let pretend: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sr-old-node-'));
    pretend = join(folder, 'pretend.cjs');
    await writeFile(pretend, `Object.defineProperty(process, 'version', { value: '${OLD}' });\n`);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const asOldNode = (args: readonly string[]) =>
    spawnSync(process.execPath, ['--require', pretend, ...args], { encoding: 'utf8' });

  it('is told from one that will do by every part of its version', () => {
    for (const fit of ['v20.19.0', 'v20.19.1', 'v20.20.0', 'v21.0.0', 'v100.0.0', '20.19.0', 'v22.0.0-nightly']) {
      assert.equal(complaintAbout(fit, '>=20.19.0'), undefined, fit);
    }
    for (const old of ['v20.18.9', 'v20.2.0', 'v19.99.99', 'v9.0.0', 'v0.10.48']) {
      assert.match(complaintAbout(old, '>=20.19.0') ?? '', /Node 20\.19\.0 or newer is needed/, old);
    }
  });

  it('78 from the program, whose first and only line says which version is needed', () => {
    for (const words of [['serve'], ['--help'], ['tenant', 'list']]) {
      const { status, stdout, stderr } = asOldNode([MAIN, ...words]);
      assert.deepEqual([status, stdout], [78, '']);
      assert.match(stderr, FIRST_LINE);
    }
  });

  it('78 from the check by itself, which every script of the checkout begins with', async () => {
    const { status, stderr } = asOldNode([CHECK]);
    assert.equal(status, 78);
    assert.match(stderr, FIRST_LINE);
    assert.equal(spawnSync(process.execPath, [CHECK]).status, 0);
    const { scripts } = JSON.parse(await readFile(join(CHECKOUT, 'package.json'), 'utf8'));
    for (const name of ['start', 'build', 'test', 'bench', 'test:faults', 'test:fuzz']) {
      assert.ok(scripts[name].startsWith('node server/bin/require-node.cjs && '), name);
    }
    const env = { ...process.env, NODE_OPTIONS: `--require ${pretend}` };
    const started = spawnSync('/bin/sh', ['-c', scripts.start], { cwd: CHECKOUT, env, encoding: 'utf8' });
    assert.deepEqual([started.status, started.stdout], [78, '']);
    assert.match(started.stderr, FIRST_LINE);
  });

  it('can read what is loaded before the check, whatever came into the language later', async () => {
    for (const file of [MAIN, CHECK]) {
      const code = (await readFile(file, 'utf8')).replaceAll(/\/\/.*|\/\*[\s\S]*?\*\//g, '');
      assert.doesNotMatch(code, /\bawait\b|\basync\b|\?\?|\?\.|\.\.\.|\*\*|'node:|,\s*\)|\bcatch \{/, file);
    }
    const imported = [...(await readFile(MAIN, 'utf8')).matchAll(/^import .*'([^']+)';/gm)].map(([, name]) => name);
    assert.deepEqual(imported, ['../bin/require-node.cjs']);
  });

  it('the oldest supported version is the same wherever it is written', async () => {
    const read = (path: string): Promise<string> => readFile(join(CHECKOUT, path), 'utf8');
    for (const path of ['package.json', 'server/package.json']) {
      assert.equal(JSON.parse(await read(path)).engines.node, '>=20.19.0', path);
    }
    for (const path of ['README.md', 'CONTRIBUTING.md', 'docs/operations.md']) {
      assert.match(await read(path), /Node 20\.19 or newer/, path);
    }
  });
});

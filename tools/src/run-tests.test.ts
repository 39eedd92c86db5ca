// needs: processes

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const RUNNER = new URL('./run-tests.js', import.meta.url).href;

/** Runs test files in one group, outside of this process: inside a test the runner would take itself for a part of it. */
async function runGroup(
  files: Readonly<Record<string, string>>,
  needs: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-runner-'));
  try {
    const group = Object.keys(files).map((source) => ({
      source,
      compiled: join(folder, source),
      needs,
      isAlone: false,
    }));
    for (const [source, body] of Object.entries(files)) {
      await writeFile(join(folder, source), `import { after, before, describe, it } from 'node:test';\n${body}`);
    }
    const program = `
      import { runTests } from '${RUNNER}';
      const { results } = await runTests([${JSON.stringify(group)}], { folder: '${folder}', concurrency: 1 });
      console.log('\\n' + JSON.stringify(results));`;
    const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
    const env = { ...inherited, ...more };
    await writeFile(join(folder, 'program.mjs'), program);
    const printed = execFileSync(process.execPath, [join(folder, 'program.mjs')], { env, encoding: 'utf8' });
    const lines = printed.trimEnd().split('\n');
    const results: { file: string; name: string; outcome: string; reason: string }[] = JSON.parse(lines.pop() ?? '');
    return { printed: lines.join('\n'), told: results.map((one) => Object.values(one).join(' | ')) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('test files that share a process', () => {
  it('have their own hooks, and their tests are told by file and by every title around them', async () => {
    const { told } = await runGroup({
      'one.mjs': `
        before(() => { globalThis.began = 'one'; });
        it('sees its hook', () => { if (globalThis.began !== 'one') throw new Error(globalThis.began); });
        describe('outer', () => { describe('inner', () => it('runs', () => {})); });`,
      'two.mjs': `
        before(() => { globalThis.began = 'two'; });
        it('sees its hook', () => { if (globalThis.began !== 'two') throw new Error(globalThis.began); });`,
    });
    assert.deepEqual(told, [
      'one.mjs | sees its hook | passed | ',
      'one.mjs | outer > inner > runs | passed | ',
      'two.mjs | sees its hook | passed | ',
    ]);
  });

  it('name single tests and whole suites that are skipped, with the reason', async () => {
    const { told } = await runGroup({
      'some.mjs': `
        describe('suite', () => { it('waits', { skip: 'no clock here' }, () => {}); });
        describe('left out', { skip: 'no browser here' }, () => { it('never runs', () => {}); });`,
    });
    assert.deepEqual(told, [
      'some.mjs | suite > waits | skipped | no clock here',
      'some.mjs | left out | skipped | no browser here',
    ]);
  });

  it('say what failed, why, and the command that runs it again; the others go on', async () => {
    const { told, printed } = await runGroup({
      'bad.mjs': `describe('suite', () => it('fails', () => { throw new Error('the reason'); }));`,
      'broken.mjs': `throw new Error('it does not load');`,
      'good.mjs': `it('passes', () => {});`,
    });
    assert.deepEqual(told, [
      'bad.mjs | suite > fails | failed | ',
      'broken.mjs | the file itself | failed | ',
      'good.mjs | passes | passed | ',
    ]);
    assert.match(printed, /^FAIL bad\.mjs: suite > fails$/m);
    assert.match(printed, /the reason/);
    assert.match(printed, /run it again: npm test -- bad\.mjs$/m);
    assert.match(printed, /it does not load/);
  });

  it('fail by name when they end their process', async () => {
    const { told } = await runGroup({ 'ends.mjs': `it('leaves', () => process.exit(3));` });
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', /^ends\.mjs \| the process of this group \| failed/);
  });

  it('fail by name when their process ends before them, though it ends well', async () => {
    const { told, printed } = await runGroup({
      'ends.mjs': `it('leaves', () => process.exit(0));`,
      'after.mjs': `it('never runs', () => { throw new Error('lost'); });`,
    });
    assert.deepEqual(told, ['ends.mjs | the file itself | failed | ', 'after.mjs | the file itself | failed | ']);
    assert.match(printed, /its process ended before the tests of this file had/);
  });

  it('count each test of a name that is used twice', async () => {
    const { told } = await runGroup({
      'twice.mjs': `it('same', () => { throw new Error('no'); }); it('same', () => {});`,
    });
    assert.deepEqual(told, ['twice.mjs | same | failed | ', 'twice.mjs | same | passed | ']);
  });

  it('fail by name when they leave something open', async () => {
    const files = {
      'open.mjs': `it('listens', async () => { (await import('node:net')).createServer().listen(0); });`,
    };
    const { told, printed } = await runGroup(files, [], { TEST_OPEN_MS: '100' });
    assert.deepEqual(told, ['open.mjs | listens | passed | ', 'open.mjs | the process of this group | failed | ']);
    assert.match(printed, /left something open: .*TCPServerWrap/);
  });

  it('may start programs only if they say so', async () => {
    const body = `
      import { execFileSync } from 'node:child_process';
      it('starts', () => { execFileSync(process.execPath, ['--version']); });`;
    const { told, printed } = await runGroup({ 'starts.mjs': body });
    assert.deepEqual(told, ['starts.mjs | starts | failed | ']);
    assert.match(printed, /this test file starts a program/);
    assert.deepEqual((await runGroup({ 'starts.mjs': body }, ['processes'])).told, ['starts.mjs | starts | passed | ']);
  });
});

// needs: processes

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';

const COMMANDS = ['bench/dist/main.js', 'faults/dist/main.js', 'fuzz/dist/main.js'];

function run(command: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [command, ...args], { encoding: 'utf8' });
}

describe('commands for those who work on the product', () => {
  for (const command of COMMANDS) {
    it(`0 and the options, when ${command} is asked for help`, () => {
      const { status, stdout } = run(command, '--help');
      assert.equal(status, 0);
      assert.match(stdout, /^--only /m);
    });

    it(`64 and the options, for one ${command} does not know`, () => {
      const { status, stderr } = run(command, '--nonsense');
      assert.equal(status, 64);
      assert.match(stderr, /^Unknown option '--nonsense'/);
      assert.match(stderr, /^--only /m);
    });

    it(`64 and the names there are, for a part ${command} does not have`, () => {
      const { status, stdout, stderr } = run(command, '--only', 'nothing');
      assert.equal(status, 64);
      assert.match(stderr, /named nothing\. There are: \w/);
      assert.equal(stdout, '');
    });
  }
});

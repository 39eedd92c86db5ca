import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

/** Loaded before test files without a `// needs:` line: starting a program fails, so that `npm test` stays fast. */
for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const) {
  Object.assign(childProcess, {
    [name]: (program: unknown) => {
      throw new Error(
        `this test file starts a program (${String(program)}): say so in its first line, such as // needs: processes`,
      );
    },
  });
}
syncBuiltinESMExports();

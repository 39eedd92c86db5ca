import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { report } from './checks.js';

/** The lines above the oldest, which the gate runs everything on. Their exact versions stand in tools/node-lines/package.json. */
const LINES = ['22', '24', '26'] as const;
/** The API seen from outside and connections of HTTP, which depend most on the platform. */
const SHORT = ['server/src/http/transport/', 'server/src/outbound/', 'acceptance/src/api'];
/** Also everything else over HTTP, processes that are killed, and real clients. */
const LONG = ['server/src/http/', 'server/src/outbound/', 'server/src/testing/crash/', 'acceptance/src/'];
const PATTERNS = process.argv.includes('--long') ? LONG : SHORT;
const FOLDER = 'tools/node-lines';

/** Runs a program to its end and hands its lines on as they come. */
async function run(command: string, args: readonly string[]): Promise<{ code: number; lastLine: string }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk);
    printed = `${printed}${chunk.toString()}`.slice(-1_000);
  });
  const [code] = await once(child, 'close');
  return { code: code ?? 1, lastLine: printed.trimEnd().split('\n').at(-1) ?? '' };
}

const total = { passed: 0, failed: 0 };
if (process.platform !== 'linux' || process.arch !== 'x64') {
  report('not run', `Node ${LINES.join(', ')}: their binaries are for Linux on x64`);
} else {
  const installed = await run('npm', ['ci', '--silent', '--prefix', FOLDER]);
  if (installed.code !== 0) report('FAIL', 'the binaries of Node could not be installed');
  for (const line of LINES) {
    const node = resolve(FOLDER, 'node_modules', `node-${line}`, 'bin', 'node');
    report('====', `Node ${line}`);
    const tally = /^(\d+) passed, (\d+) failed$/.exec(
      existsSync(node) ? (await run(node, ['tools/dist/test.js', ...PATTERNS])).lastLine : '',
    );
    total.passed += Number(tally?.[1] ?? 0);
    // A run that broke off before it could count is a failure of its own.
    total.failed += Number(tally?.[2] ?? 1);
  }
}
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 ? 0 : 1;

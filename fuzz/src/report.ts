import { cpus } from 'node:os';
import { summary } from './driver.js';
import type { NeighbourReport } from './neighbour.js';
import type { FuzzResult } from './run.js';
import { megabytes } from './run.js';

/** The result as a page section: what ran, how much of it, what came out. */
export function reportOf(result: FuzzResult, at: Date): string {
  const { seed, parts, requests, neighbour, seconds, warmBytes, endBytes, findings } = result;
  const rows = parts.map(
    ({ name, cases, requests: sent, slowestMs, statuses, findings: found }) =>
      `| ${name} | ${cases} | ${sent} | ${Math.round(slowestMs)} | ${summary(statuses)} | ${found.length} |`,
  );
  return [
    `${at.toISOString().slice(0, 10)}, seed ${seed}, Node ${process.version}, ${cpus().length} cores: ` +
      `${requests} requests in ${Math.round(seconds)} s (${Math.round(requests / seconds)} a second). Memory in use ` +
      `${megabytes(warmBytes)} MB after warm-up, ${megabytes(endBytes)} MB at the end. Findings: ${findings.length}.`,
    '',
    `${neighbourLine(neighbour)}.`,
    '',
    '| Part | Cases | Requests | Slowest ms | Answers by status | Findings |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

export function neighbourLine({ requests, disturbed, medianMs, p99Ms, slowestMs }: NeighbourReport): string {
  const times = [medianMs, p99Ms, slowestMs].map((ms) => ms.toFixed(1));
  return `neighbour: ${requests} requests, ${disturbed.length} disturbed; median ${times[0]} ms, 99 % ${times[1]} ms, slowest ${times[2]} ms`;
}

import { cpus } from 'node:os';
import type { ScenarioResult } from './run-scenario.js';
import { hasPassed } from './run-scenario.js';

const HEAD = ['scenario', 'rounds', 'acknowledged', 'refused', 'unknown', 'violations', 'slowest recovery'];

function rowOf(result: ScenarioResult): string[] {
  const { rounds } = result;
  const sum = (of: (round: (typeof rounds)[number]) => number): string =>
    String(rounds.reduce((total, round) => total + of(round), 0));
  const slowestMs = Math.max(0, ...rounds.map(({ recoveryMs }) => recoveryMs));
  const violations = result.violations.length + Number(sum((round) => round.violations.length));
  return [
    result.scenario.name,
    String(rounds.length),
    sum((round) => round.acknowledged),
    sum((round) => round.refused),
    sum((round) => round.unknown),
    String(violations),
    `${(slowestMs / 1_000).toFixed(1)} s`,
  ];
}

export function plainTable(results: readonly ScenarioResult[]): string {
  const rows = [HEAD, ...results.map(rowOf)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join('  '),
    )
    .join('\n');
}

export function markdownTable(results: readonly ScenarioResult[], seed: number, date: string): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    `Seed ${seed}, ${date}, Node ${process.version}, ${cpus().length} cores.`,
    '',
    line(HEAD),
    line(HEAD.map((_, n) => (n === 0 ? '---' : '---:'))),
    ...results.map((result) => line(rowOf(result))),
    '',
    `${results.filter(hasPassed).length} passed, ${results.filter((result) => !hasPassed(result)).length} failed`,
    '',
  ].join('\n');
}

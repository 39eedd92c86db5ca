import { machineLine } from './machine.js';
import { INTRODUCTION, PARTS_PROSE } from './prose.js';
import type { PartResult, Results } from './results.js';
import { markdownTable } from './text-table.js';

const GOALS_HEAD = ['goal', 'wanted', 'measured', 'reached', 'date'] as const;

/** The whole of docs/benchmarks.md. `findings` is written by hand and kept as it is. */
export function renderPage(results: Results, findings: string): string {
  const parts = PARTS_PROSE.map(({ name, title, text }) => `## ${title}\n\n${text}\n\n${figures(results[name])}`);
  const sections = ['# Benchmarks', INTRODUCTION, `## Goals\n\n${goals(results)}`, ...parts];
  if (findings.trim() !== '') sections.push(`## Findings\n\n${findings.trim()}`);
  return `${sections.join('\n\n')}\n`;
}

function goals(results: Results): string {
  const rows = PARTS_PROSE.flatMap(({ name }) => {
    const part = results[name];
    return (part?.goals ?? []).map(({ what, wanted, measured, isMet }) => {
      return [what, wanted, measured, isMet ? 'yes' : '**no**', part ? dayOf(part) : ''];
    });
  });
  if (rows.length === 0) return 'Nothing has been measured yet.';
  return markdownTable({ title: 'Goals', head: GOALS_HEAD, rows });
}

function figures(part: PartResult | undefined): string {
  if (part === undefined) return 'Not measured yet.';
  const rough = part.isQuick ? ' **Rough: from a quick run.**' : '';
  const rounds = `${part.rounds} ${part.rounds === 1 ? 'round' : 'rounds'}`;
  const when = `*${dayOf(part)}, ${rounds}, ${part.seconds.toFixed(0)} s. ${machineLine(part.machine)}.*${rough}`;
  const tables = part.tables.map((table) => `**${table.title}**\n\n${markdownTable(table)}`);
  const plots = part.plots.map(({ name, title }) => `![${title}](benchmarks/${name}.svg)`);
  const notes = part.notes.map((note) => `- ${note}`).join('\n');
  return [when, ...tables, ...plots, ...(notes === '' ? [] : [notes])].join('\n\n');
}

/** With the time of day, because a part may be measured twice on one. */
function dayOf({ date }: PartResult): string {
  return date.slice(0, 16).replace('T', ' ');
}

import { machineLine } from './machine.js';
import { INTRODUCTION, PARTS_PROSE } from './prose.js';
import type { PartResult, Results } from './results.js';
import { markdownTable } from './text-table.js';

const GOALS_HEAD = ['part', 'goal', 'wanted', 'measured', 'reached', 'date'] as const;

/**
 * The whole of docs/benchmarks.md. What is measured stands in `results`; of every other part the page keeps what `earlier`, the
 * page as it is, says. `findings` is written by hand and kept as it is.
 */
export function renderPage(results: Results, findings: string, earlier = ''): string {
  const parts = PARTS_PROSE.map(({ name, title, text }) => {
    const part = results[name];
    const shown = part === undefined ? figuresIn(earlier, name) : figures(part);
    return `## ${title}\n\n${text}\n\n${markOf(name)}\n\n${shown}`;
  });
  const sections = ['# Benchmarks', INTRODUCTION, `## Goals\n\n${goals(results, earlier)}`, ...parts];
  if (findings.trim() !== '') sections.push(`## Findings\n\n${findings.trim()}`);
  return `${sections.join('\n\n')}\n`;
}

function goals(results: Results, earlier: string): string {
  const rows = PARTS_PROSE.flatMap(({ name }) => {
    const part = results[name];
    if (part === undefined) return goalsIn(earlier, name);
    return part.goals.map(({ what, wanted, measured, isMet }) => {
      return [name, what, wanted, measured, isMet ? 'yes' : '**no**', dayOf(part)];
    });
  });
  if (rows.length === 0) return 'Nothing has been measured yet.';
  return markdownTable({ title: 'Goals', head: GOALS_HEAD, rows });
}

/** Stands before the figures of a part, so that the next run finds them. */
function markOf(name: string): string {
  return `<!-- figures: ${name} -->`;
}

/** What the page says of a part, up to the next heading. */
function figuresIn(page: string, name: string): string {
  const [, rest = ''] = page.split(`${markOf(name)}\n`);
  const [kept = ''] = rest.split(/^## /m);
  return kept.trim() === '' ? 'Not measured yet.' : kept.trim();
}

function goalsIn(page: string, name: string): string[][] {
  const rows = page.split('\n').filter((line) => line.startsWith(`| ${name} | `));
  const cells = rows.map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
  return cells.filter((row) => row.length === GOALS_HEAD.length);
}

function figures(part: PartResult): string {
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

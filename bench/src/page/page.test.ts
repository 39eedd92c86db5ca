import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { PARTS } from '../parts.js';
import type { Machine } from './machine.js';
import { renderPage } from './page.js';
import { PARTS_PROSE } from './prose.js';
import { publish } from './publish.js';
import type { PartResult } from './results.js';
import { markdownTable, textTable } from './text-table.js';

const MACHINE: Machine = {
  processor: 'Abacus',
  cores: 2,
  memoryGib: 4,
  kernel: 'Linux 6',
  node: 'v20',
  postgresEmbedded: '18.4',
  postgresServer: '15.1',
};

function part(change: Partial<PartResult> = {}): PartResult {
  return {
    date: '2026-11-15T08:30:00.000Z',
    machine: MACHINE,
    rounds: 5,
    isQuick: false,
    seconds: 61.4,
    tables: [{ title: 'Reads', head: ['path', 'rate', 'note'], rows: [['GET /x', '12', '']] }],
    goals: [{ what: 'reads', wanted: '>= 0.80', measured: '0.70', isMet: false }],
    plots: [],
    notes: ['the load was busy'],
    ...change,
  };
}

const PLOT = {
  name: 'curve',
  title: 'A curve',
  x: { label: 'rows', scale: 'log' },
  y: { label: 'ms', scale: 'log' },
  series: [{ name: 'one', points: [{ x: 1_000, y: 2, low: 1, high: 3 }] }],
} as const;

describe('the page', () => {
  it('has a section for every part that can be measured, and no other', () => {
    assert.deepEqual(
      PARTS_PROSE.map(({ name }) => name),
      Object.keys(PARTS),
    );
  });

  it('says for each part when and where it was measured, and of the others that they were not', () => {
    const page = renderPage({ http: part(), start: part({ date: '2026-11-14T07:00:00.000Z', isQuick: true }) }, '');
    assert.match(
      page,
      /\*2026-11-15 08:30, 5 rounds, 61 s\. Abacus, 2 cores, 4 GiB, Linux 6, Node v20, PostgreSQL 18\.4/,
    );
    assert.match(page, /2026-11-14 07:00.*Rough/);
    assert.equal(page.match(/Not measured yet/g)?.length, PARTS_PROSE.length - 2);
  });

  it('shows a goal that was missed as missed', () => {
    assert.match(
      renderPage({ http: part() }, ''),
      /\| http \| reads \| >= 0\.80 \| 0\.70 \| \*\*no\*\* \| 2026-11-15 08:30 \|/,
    );
  });

  it('keeps what was written by hand at its end', () => {
    assert.match(renderPage({}, 'The hash is slow.\n'), /## Findings\n\nThe hash is slow\.\n$/);
    assert.doesNotMatch(renderPage({}, ''), /Findings/);
  });
});

describe('publishing a part', () => {
  let docs: string;
  let raw: string;
  before(async () => {
    docs = await mkdtemp(join(tmpdir(), 'strongroom-page-'));
    raw = join(docs, 'raw', 'latest.json');
  });
  after(() => rm(docs, { recursive: true, force: true }));

  it('leaves the figures of the other parts as they were', async () => {
    await publish(docs, raw, 'http', part({ notes: ['note one'] }));
    await writeFile(join(docs, 'benchmarks', 'findings.md'), 'By hand.\n');
    await publish(docs, raw, 'logs', part({ notes: ['note two'], plots: [PLOT] }));
    await publish(docs, raw, 'logs', part({ notes: ['note three'], plots: [PLOT] }));
    const page = await readFile(join(docs, 'benchmarks.md'), 'utf8');
    assert.match(page, /note one/);
    assert.doesNotMatch(page, /note two/);
    assert.match(page, /note three/);
    assert.match(page, /By hand\./);
    assert.match(page, /!\[A curve\]\(benchmarks\/curve\.svg\)/);
    assert.match(await readFile(join(docs, 'benchmarks', 'curve.svg'), 'utf8'), /^<svg /);
    const results = JSON.parse(await readFile(raw, 'utf8'));
    assert.deepEqual(Object.keys(results), ['http', 'logs']);
  });

  it('leaves them as they were also where their raw results are not on this machine', async () => {
    const before = await readFile(join(docs, 'benchmarks.md'), 'utf8');
    await rm(raw);
    const goal = { what: 'a start', wanted: '<= 5', measured: '2', isMet: true };
    await publish(docs, raw, 'start', part({ notes: ['note four'], goals: [goal] }));
    const page = await readFile(join(docs, 'benchmarks.md'), 'utf8');
    assert.match(page, /note four/);
    assert.match(page, /\| http \| reads \| >= 0\.80 \|.*\n(.*\n)*\| logs \| reads \|/);
    const ofOthers = (text: string) =>
      text.replace(/## Goals[\s\S]*?\n## /, '').replace(/figures: start[\s\S]*?\n## /, '');
    assert.equal(ofOthers(page), ofOthers(before));
    await publish(docs, raw, 'start', part({ notes: ['note four'], goals: [goal] }));
    assert.equal(await readFile(join(docs, 'benchmarks.md'), 'utf8'), page, 'and once more changes nothing');
  });
});

describe('tables', () => {
  it('a column that is empty throughout is left out of the page', () => {
    const table = { title: 't', head: ['a', 'b', 'c'], rows: [['1', '', '3']] };
    assert.equal(markdownTable(table), '| a | c |\n|---|---:|\n| 1 | 3 |');
  });

  it('columns are aligned on the terminal', () => {
    assert.equal(
      textTable({ title: 't', head: ['a', 'b'], rows: [['long', '2']] }),
      '\nt\n\n  a     b\n  ----  -\n  long  2\n',
    );
  });
});

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderPage } from './page.js';
import type { PartResult } from './results.js';
import { readResults, writeResults } from './results.js';
import { drawPlot } from './svg.js';

/** Puts a part's result beside the others' last ones, and writes page and pictures anew. */
export async function publish(docs: string, name: string, part: PartResult): Promise<void> {
  const folder = join(docs, 'benchmarks');
  const file = join(folder, 'results.json');
  const results = { ...(await readResults(file)), [name]: part };
  await mkdir(folder, { recursive: true });
  await writeResults(file, results);
  for (const plot of part.plots) await writeFile(join(folder, `${plot.name}.svg`), drawPlot(plot));
  const findings = await readFile(join(folder, 'findings.md'), 'utf8').catch(() => '');
  // They lie one folder deeper than the page they become part of.
  await writeFile(join(docs, 'benchmarks.md'), renderPage(results, findings.replaceAll('](../', '](')));
}

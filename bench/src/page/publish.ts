import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderPage } from './page.js';
import type { PartResult } from './results.js';
import { readResults, writeResults } from './results.js';
import { drawPlot } from './svg.js';

/**
 * Writes a part's result into the page, with its pictures, and beside the others' last ones into the raw file. The page keeps
 * what it says of parts whose raw result is not on this machine.
 */
export async function publish(docs: string, rawFile: string, name: string, part: PartResult): Promise<void> {
  const folder = join(docs, 'benchmarks');
  const pageFile = join(docs, 'benchmarks.md');
  await mkdir(folder, { recursive: true });
  await writeResults(rawFile, { ...(await readResults(rawFile)), [name]: part });
  for (const plot of part.plots) await writeFile(join(folder, `${plot.name}.svg`), drawPlot(plot));
  const [findings, earlier] = await Promise.all([textOf(join(folder, 'findings.md')), textOf(pageFile)]);
  // The findings lie one folder deeper than the page they become part of.
  await writeFile(pageFile, renderPage({ [name]: part }, findings.replaceAll('](../', ']('), earlier));
}

/** Empty where there is no such file yet. */
function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}

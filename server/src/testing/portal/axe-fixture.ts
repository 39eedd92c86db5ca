import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const THEMES = ['light', 'dark'] as const;
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const OPTIONS = JSON.stringify({ runOnly: { type: 'tag', values: RULES }, resultTypes: ['violations'] });

/** What of WCAG 2.2 AA a page breaks as it stands, in both themes at these widths, and where it is wider than the screen. */
export type Audit = (page: Page, where: string, widths: readonly number[]) => Promise<string[]>;

export async function loadAxe(): Promise<Audit> {
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  return async (page, where, widths) => {
    await page.evaluate(axe);
    const found: string[] = [];
    for (const theme of THEMES) {
      await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
      for (const width of widths) {
        await page.setViewportSize({ width, height: 860 });
        await page.evaluate(SETTLED);
        const { violations } = (await page.evaluate(`axe.run(document, ${OPTIONS})`)) as {
          violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
        };
        for (const { id, nodes } of violations) {
          found.push(`${where} ${theme} ${width}: ${id} ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
        }
        const over = (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number;
        if (over > 0) found.push(`${where} ${theme} ${width}: ${over} px too wide`);
      }
    }
    return found;
  };
}

/** What fades in has its colours only at the end. */
const SETTLED = `Promise.allSettled(
  document.getAnimations()
    .filter((each) => each.effect.getComputedTiming().endTime !== Infinity)
    .map((each) => each.finished),
).then(() => undefined)`;

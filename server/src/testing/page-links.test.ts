import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { describe, it } from 'node:test';

const ROOT = new URL('../../../', import.meta.url);
const LINK = /(?<!!)\]\(([^)\s]+)\)/g;
const ELSEWHERE = /^[a-z]+:/;

describe('the pages', async () => {
  const docs = (await readdir(new URL('docs/', ROOT))).filter((name) => name.endsWith('.md'));
  const atRoot = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'];

  it('lead from every link to a file that is there and a heading it has', async () => {
    const broken: string[] = [];
    let links = 0;
    for (const page of [...atRoot, ...docs.map((name) => `docs/${name}`)]) {
      const url = new URL(page, ROOT);
      const text = await readFile(url, 'utf8');
      for (const [, link = ''] of text.matchAll(LINK)) {
        if (ELSEWHERE.test(link)) continue;
        links += 1;
        if (!(await isThere(url, text, link))) broken.push(`${page}: ${link}`);
      }
    }
    assert.ok(links > 100);
    assert.deepEqual(broken, []);
  });

  it('of docs/ stand on the map of the README', async () => {
    const readme = await readFile(new URL('README.md', ROOT), 'utf8');
    const missing = docs.filter((name) => !readme.includes(`(docs/${name}`));
    assert.deepEqual(missing, []);
  });
});

async function isThere(page: URL, text: string, link: string): Promise<boolean> {
  const [path = '', anchor] = link.split('#');
  const target = new URL(path, page);
  const found = path === '' ? true : await stat(target).catch(() => undefined);
  if (found === undefined || anchor === undefined) return found !== undefined;
  return anchorsOf(path === '' ? text : await readFile(target, 'utf8')).includes(anchor);
}

/** Names of headings as they stand in links. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

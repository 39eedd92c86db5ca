// needs: chromium
// alone: takes more than a minute of waiting for the browser

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Page, Response } from 'playwright-core';
import type { Audit } from './axe-fixture.js';
import { loadAxe } from './axe-fixture.js';
import { CANARIES, fillForPages } from './every-page-fixture.js';
import { openVisitor } from './portal-page-fixture.js';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';
import { startPortalOfTenant } from './tenant-pages-fixture.js';

const WIDTHS = [390, 768, 1280] as const;
const SCRIPT_BYTES_MAX = 200_000;
const REQUESTS_MAX = 12;
const STEPS_MAX = 150;
/** Editors are loaded where code is written, and not counted with the first load. */
const EDITOR = /editor/;

/** What one visit to a page shows of it. */
interface Looked {
  readonly path: string;
  readonly violations: readonly string[];
  readonly urls: readonly string[];
  readonly scriptBytes: number;
  /** Answers, addresses, what the page holds and what it stores. */
  readonly texts: readonly string[];
  /** The places of a walk by keyboard. */
  readonly walk: readonly Focus[];
}

describe('every page of the Portal', () => {
  let portal: PortalOfTenant;
  let ann: MemberAtBrowser;
  let audit: Audit;
  /** Pages are visited once for all tests: a browser's time is most of what they take. */
  let inside: readonly Looked[];
  let outside: readonly string[];
  before(async () => {
    portal = await startPortalOfTenant();
    const every = await fillForPages(portal);
    ann = await portal.visit('OWNER');
    audit = await loadAxe();
    inside = await inTurn(every.inside, look);
    const visitor = await openVisitor(portal.browser, portal.mailed.app);
    outside = (await inTurn(every.outside, (path) => violations(visitor.page, path))).flat();
    await visitor.close();
  });
  after(async () => {
    await ann?.leave();
    await portal?.close();
  });

  /** Where nothing is loading any more. */
  async function open(page: Page, path: string): Promise<void> {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(`${ann.portal}/${path}`);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await page.waitForLoadState('networkidle');
  }

  /** By a browser that has nothing of the Portal yet but the session. */
  async function look(path: string): Promise<Looked> {
    const context = await portal.browser.newContext({ storageState: await ann.context.storageState() });
    const page = await context.newPage();
    await page.setViewportSize({ width: 1280, height: 860 });
    const responses: Response[] = [];
    page.on('response', (response) => responses.push(response));
    await open(page, path);
    const urls = responses.map((response) => response.url());
    const texts = [...urls, page.url(), await page.content()];
    texts.push((await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')) as string);
    for (const response of responses) {
      if (!response.url().includes('/assets/')) texts.push(await response.text().catch(() => ''));
    }
    const sizes = await inTurn(responses.filter(isFirstScript), gzippedBytes);
    const scriptBytes = sizes.reduce((sum, size) => sum + size, 0);
    const walk = await walkByKeyboard(page);
    const looked = { path, urls, texts, scriptBytes, walk, violations: await audit(page, path, WIDTHS) };
    await context.close();
    return looked;
  }

  async function violations(page: Page, path: string): Promise<string[]> {
    await open(page, path);
    return audit(page, path, WIDTHS);
  }

  it('is WCAG 2.2 AA in both themes at every width, and never wider than the screen', () => {
    assert.ok(inside.length >= 20, `${inside.length} pages`);
    assert.deepEqual([...inside.flatMap((page) => page.violations), ...outside], []);
  });

  it('loads at most 200 KB of script, and takes at most 12 requests', () => {
    for (const { path, scriptBytes, urls } of inside) {
      assert.ok(scriptBytes > 50_000 && scriptBytes <= SCRIPT_BYTES_MAX, `${path}: ${scriptBytes} bytes of script`);
      assert.ok(urls.length <= REQUESTS_MAX, `${path}: ${urls.length} requests\n${urls.join('\n')}`);
    }
  });

  it('has no data of tokens in any answer, address, storage or text', () => {
    const all = inside.flatMap(({ texts }) => texts).join('\n');
    assert.ok(all.includes('Ours'), 'pages of this tenant were read');
    for (const canary of CANARIES) assert.ok(!all.includes(canary), canary);
  });

  it('shows where the focus is at every step of a walk by keyboard, and is not a trap', () => {
    for (const { path, walk } of inside) {
      assert.match(walk[0]?.name ?? '', /Skip to the page/, path);
      const hidden = walk.find(({ isVisible }) => !isVisible);
      assert.equal(hidden, undefined, `${path}: the focus cannot be seen on ${hidden?.name}`);
      assert.ok(walk.length > 6 && walk.length < STEPS_MAX, `${path}: ${walk.length} steps`);
    }
  });
});

async function inTurn<Given, Made>(all: readonly Given[], act: (one: Given) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  for (const one of all) made.push(await act(one));
  return made;
}

function isFirstScript(response: Response): boolean {
  return /\.js$/.test(response.url()) && !EDITOR.test(response.url());
}

const sizesByUrl = new Map<string, number>();

/** The same file of several pages is weighed once. */
async function gzippedBytes(response: Response): Promise<number> {
  const known = sizesByUrl.get(response.url());
  if (known !== undefined) return known;
  const size = gzipSync(await response.body(), { level: 9 }).length;
  sizesByUrl.set(response.url(), size);
  return size;
}

/** Until the focus leaves the page. */
async function walkByKeyboard(page: Page): Promise<Focus[]> {
  const walk: Focus[] = [];
  for (let at = await nextFocus(page); at.name !== 'BODY' && walk.length < STEPS_MAX; at = await nextFocus(page)) {
    walk.push(at);
    if (at.isEditor) await page.keyboard.press('Escape');
  }
  return walk;
}

interface Focus {
  readonly name: string;
  readonly isVisible: boolean;
  /** Takes the Tab key for itself until Escape was pressed, as its hint says. */
  readonly isEditor?: boolean;
}

/** Where one more press of the Tab key leads. */
async function nextFocus(page: Page): Promise<Focus> {
  await page.keyboard.press('Tab');
  return (await page.evaluate(`(() => {
    let at = document.activeElement;
    const frame = at?.parentElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    if (at === null || at === document.body) return { name: 'BODY', isVisible: true };
    const shows = (element) => {
      if (element === null) return false;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
    };
    const { width, height, bottom, right } = at.getBoundingClientRect();
    // A choice may be a whole card with a small input in it, and an editor has its frame.
    const isOutlined = shows(at) || shows(at.closest('label')) || (at.isContentEditable && shows(frame));
    const name = at.tagName + ' ' + (at.getAttribute('aria-label') ?? at.textContent ?? '').trim().slice(0, 60);
    return { name, isEditor: at.isContentEditable, isVisible: isOutlined && width > 0 && height > 0 && bottom > 0 && right > 0 };
  })()`)) as Focus;
}

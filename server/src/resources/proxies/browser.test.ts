// needs: chromium

import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { request as ask, createServer } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { findBrowser } from '@strongroom/test-servers/find.js';
import type { Listening } from '../../outbound/outbound-fixture.js';
import { listening } from '../../outbound/outbound-fixture.js';
import type { BrowserPage } from '../../testing/headless-browser.js';
import { openBrowserPage } from '../../testing/headless-browser.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { startDestination } from './run/destination-fixture.js';

const BROWSER = findBrowser();
const HTML = 'text/html; charset=utf-8';
/** As a destination would that wants the origin it is shown under. */
const GREEDY = { 'Set-Cookie': ['theirs=1; Path=/', 'hidden=1; Path=/; HttpOnly'], 'Service-Worker-Allowed': '/' };

type Contents = Map<string, readonly [type: string, text: string]>;

/** Tells where it runs, which needs no right but to load a picture; then takes what it can. */
function hostileContents(beacon: string): Contents {
  const script = `globalThis.ran = true; new Image().src = ${JSON.stringify(beacon)} + encodeURIComponent(location.origin);`;
  const register = `navigator.serviceWorker.register('worker.js' + location.search, { scope: '/' }).catch(() => {});`;
  return new Map([
    ['/page', [HTML, `<!doctype html><script>${script} document.cookie = 'written=1'; ${register}</script>`]],
    ['/script.js', ['text/javascript', script]],
    ['/worker.js', ['text/javascript', 'self.addEventListener("fetch", () => {});']],
  ]);
}

/** A site of the attacker's, by another name than the service so that cookies are not shared; it writes down who called. */
async function startElsewhere(): Promise<Listening & { url: string; contents: Contents; ran: string[] }> {
  const ran: string[] = [];
  const contents: Contents = new Map();
  const site = await listening(
    createServer(({ url = '' }, response) => {
      const [path = '', query = ''] = url.split('?');
      if (path === '/ran') ran.push(decodeURIComponent(query));
      const [type, text] = contents.get(path) ?? [HTML, ''];
      response.writeHead(200, { 'Content-Type': type, ...GREEDY }).end(text);
    }),
  );
  const url = `http://localhost:${site.port}`;
  for (const [path, content] of hostileContents(`${url}/ran?`)) contents.set(path, content);
  return { ...site, url, contents, ran };
}

/** Stands for a browser that does not say what it wants an answer for. */
function silentWay(to: string): Server {
  return createServer((request, response) => {
    const spoken = Object.entries(request.headers).filter(([name]) => !name.startsWith('sec-fetch-'));
    const passed = ask(`${to}${request.url}`, { headers: Object.fromEntries(spoken) }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    passed.end();
  });
}

describe('what a destination answers, in a real browser', () => {
  let destination: Awaited<ReturnType<typeof startDestination>>;
  let elsewhere: Awaited<ReturnType<typeof startElsewhere>>;
  let app: TestApp;
  let page: BrowserPage;
  let key: string;
  before(async () => {
    destination = await startDestination();
    elsewhere = await startElsewhere();
    for (const [path, [type, text]] of elsewhere.contents) {
      destination.answers.set(path, (response) =>
        response.writeHead(200, { 'Content-Type': type, ...GREEDY }).end(text),
      );
    }
    app = await startTestApp({ env: destination.env });
    const { key: manager } = await app.makeTenant();
    const body = { name: 'Open to all', destination_url: destination.named, require_auth: false };
    key = (await app.call('POST', '/proxies', { key: manager, body })).json.key;
    page = await openBrowserPage(BROWSER ?? assert.fail('no browser was found'));
  });
  after(async () => {
    await page?.close();
    await app?.close();
    await elsewhere?.close();
    await destination?.close();
  });

  const address = (path: string) => `${app.baseUrl}/proxy${path}?svc-proxy-key=${key}`;
  const inPage = (expression: string) => page.evaluate(expression);
  const registered = () => inPage('navigator.serviceWorker.getRegistrations().then(({ length }) => length)');

  it('runs, sets its cookie and registers its worker on its own site, so it can', async () => {
    await page.goto(`${elsewhere.url}/page`);
    assert.deepEqual(elsewhere.ran, [elsewhere.url]);
    assert.equal(await inPage('navigator.serviceWorker.ready.then(() => true)'), true);
    assert.match(String(await inPage('document.cookie')), /theirs=1.*written=1/);
    elsewhere.ran.length = 0;
  });

  it('opened as a page: 403, and the destination is not asked', async () => {
    const before = destination.seen.length;
    await page.goto(address('/page'));
    assert.match(String(await inPage('document.body.innerText')), /"code":"cross_site_refused"/);
    assert.equal(await inPage('document.cookie'), '');
    assert.equal(await registered(), 0);
    assert.deepEqual([elsewhere.ran, destination.seen.length], [[], before]);
  });

  it('in a frame, or as a script, of another site: nothing of it runs', async () => {
    const before = destination.seen.length;
    const frame = `<iframe src="${address('/page')}"></iframe><script src="${address('/script.js')}"></script>`;
    elsewhere.contents.set('/frame', [HTML, `<!doctype html>${frame}`]);
    await page.goto(`${elsewhere.url}/frame`);
    assert.equal(await inPage('frames.length'), 1);
    assert.equal(await inPage('typeof globalThis.ran'), 'undefined');
    assert.deepEqual([elsewhere.ran, destination.seen.length], [[], before]);
  });

  it('as a script or a worker of our own page: refused', async () => {
    const before = destination.seen.length;
    await page.goto(`${app.baseUrl}/docs`);
    const loaded = await inPage(`new Promise((resolve) => {
      const script = document.createElement('script');
      script.onload = () => resolve('loaded');
      script.onerror = () => resolve('refused');
      script.src = ${JSON.stringify(address('/script.js'))};
      document.head.append(script);
    })`);
    const worker = await inPage(
      `navigator.serviceWorker.register(${JSON.stringify(address('/worker.js'))}, { scope: '/' }).then(() => 'registered', () => 'refused')`,
    );
    assert.deepEqual([loaded, worker, await registered()], ['refused', 'refused', 0]);
    assert.equal(await inPage('typeof globalThis.ran'), 'undefined');
    assert.equal(destination.seen.length, before);
  });

  it('by fetch: its text is told, and no cookie is kept', async () => {
    await page.goto(`${app.baseUrl}/docs`);
    const fetched = (path: string) =>
      inPage(`fetch(${JSON.stringify(address(path))}).then(async (answer) => [answer.status, await answer.text()])`);
    assert.deepEqual(await fetched('/page'), [200, elsewhere.contents.get('/page')?.[1]]);
    assert.equal(await inPage('document.cookie'), '');
    const [status] = (await fetched('/seen')) as [number]; // As it was built above.
    assert.deepEqual([status, destination.last().url, destination.last().headers.cookie], [200, '/seen', undefined]);
    assert.deepEqual(elsewhere.ran, []);
  });

  it('shown by a browser that does not say what for: in a sandbox, without a cookie', async () => {
    const way = await listening(silentWay(app.baseUrl));
    const shown = (path: string) => page.goto(`http://127.0.0.1:${way.port}/proxy${path}?svc-proxy-key=${key}`);
    try {
      await shown('/page');
      assert.equal(destination.last().url, '/page');
      assert.deepEqual(elsewhere.ran, []);
      await shown('/seen');
      assert.deepEqual([destination.last().url, destination.last().headers.cookie], ['/seen', undefined]);
    } finally {
      await way.close();
    }
  });
});

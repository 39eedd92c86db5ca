// needs: processes

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { createBrowserFetch } from './browser-fetch.js';
import type { CommandSettings } from './command-runner.js';
import { eventually, START_HANGS_MS } from './eventually.js';
import { startFaultyWay } from './faulty-way.js';
import type { Block } from './page-blocks.js';
import { blocksOf, fileIn, shownBehind } from './page-blocks.js';
import type { PageProduct } from './page-product.js';
import { startPageProduct, surroundings } from './page-product.js';

const PAGE = 'docs/browser.md';
const FILES = ['setup.mjs', 'backend.mjs', 'index.html', 'page.js'];
const KEYS = ['content-type', 'svc-api-key', 'svc-idempotency-key'];

describe(PAGE, () => {
  let blocks: Block[];
  let product: PageProduct;
  let shop: Shop;
  before(async () => {
    blocks = await blocksOf(PAGE);
    product = await startPageProduct();
    for (const name of FILES) await product.save(name, fileIn(blocks, name));
    shop = await startShop(product, product.served.address);
  });
  after(async () => {
    await shop?.stop();
    await product?.close();
  });

  it('has no program but those that are run here', () => {
    const files = blocks.filter(({ language }) => !['sh', 'http', ''].includes(language)).map(({ file }) => file);
    assert.deepEqual(files, FILES);
  });

  it('saves, shows and refuses as the page says, with nothing that a browser would not allow', async () => {
    const visit = await openPage(shop.address);
    for (const number of ['4242424242424242', '4242424242424242', '4242424242424241']) await visit.save(number);
    assert.equal(visit.said(), shownBehind(blocks, 'The page says:'));
    const first = visit.preflights.slice(0, 4);
    assert.deepEqual(
      first.map(({ method, path, headers }) => [method, path.replace(/[0-9a-f-]{36}$/, '<id>'), headers]),
      [
        ['POST', '/sessions', KEYS.slice(1)],
        ['POST', '/tokens', KEYS],
        ['GET', '/tokens/card-<id>', ['svc-api-key']],
        ['DELETE', '/sessions/<id>', ['svc-api-key']],
      ],
    );
    const { json } = await product.served.call('GET', '/logs?entity_type=session&size=9', { key: product.key });
    const messages = json.data.map(({ message }: { message: string }) => message);
    const once = ['Session ended', 'Session authorized', 'Session created'];
    assert.deepEqual(messages, [...once, ...once, ...once], 'every session is ended by the page');
  });

  it('tells visitors apart: another one has a card of its own, and neither can be had without the cookie', async () => {
    const visit = await openPage(shop.address);
    await visit.save('4111111111111111');
    assert.match(visit.said(), /^stored {4}XXXXXXXXXXXX1111\nshown {5}4111111111111111\n/);
    const stranger = await fetch(`${shop.address}/authorize`, { method: 'POST', body: '{"nonce":"x"}' });
    assert.equal(stranger.status, 401);
  });

  it('stores a card once where answers are lost on the way', async () => {
    const way = await startFaultyWay(product.served.address, {
      'POST /sessions': 'answer lost',
      'POST /tokens': 'answer lost',
    });
    const behind = await startShop(product, way.address);
    try {
      const visit = await openPage(behind.address);
      await visit.save('4242424242424242');
      assert.match(visit.said(), /^stored .*\nshown .*\nended .*\n$/);
      const tries = way.seen.filter(([name]) => name === 'POST /tokens' || name === 'POST /sessions');
      assert.deepEqual([tries.length, new Set(tries.map(([, key]) => key)).size], [4, 2]);
    } finally {
      await behind.stop();
      await way.close();
    }
  });

  it('gives the public key no more than it says: no card in, none out, and no session without the server', async () => {
    const { call } = product.served;
    const key = shop.env.STRONGROOM_PUBLIC_KEY ?? '';
    const body = { type: 'card', data: { number: '4242424242424242' } };
    assert.equal((await call('POST', '/tokens', { key, body })).json.code, 'access_denied');
    assert.equal((await call('GET', '/tokens', { key })).json.code, 'permission_denied');
    const { json: session } = await call('POST', '/sessions', { key });
    const tried = await call('POST', '/tokens', { key: session.session_key, body });
    assert.equal(tried.json.code, 'permission_denied');
    const { nonce } = session;
    const granted = await call('POST', '/sessions/authorize', { key, body: { nonce, permissions: ['token:read'] } });
    assert.equal(granted.json.code, 'wrong_application_type');
    const application = { name: 'x', type: 'public', permissions: ['token:read'] };
    const made = await call('POST', '/applications', { key: product.key, body: application });
    assert.equal(made.status, 400);
  });

  it('shows a preflight as it is', async () => {
    const [question = '', shown = ''] = (blocks.find(({ language }) => language === 'http')?.text ?? '').split('\n\n');
    const [line = '', ...fields] = question.split('\n');
    const [method = '', path = ''] = line.split(' ');
    const headers = Object.fromEntries(fields.map(fieldOf));
    const answer = await product.served.call(method, path, { headers });
    const [status = '', ...expected] = shown.trim().split('\n');
    assert.equal(status, `HTTP/1.1 ${answer.status} No Content`);
    for (const [name, value] of expected.map(fieldOf)) assert.equal(answer.headers.get(name), value);
    assert.equal(answer.headers.get('access-control-allow-credentials'), null);
    assert.ok(expected.length > 3);
  });
});

function fieldOf(line: string): [string, string] {
  const at = line.indexOf(': ');
  return [line.slice(0, at), line.slice(at + 2)];
}

interface Shop {
  readonly address: string;
  /** What the page has the reader set. */
  readonly env: CommandSettings;
  stop(): Promise<void>;
}

/** The two programs, as the reader starts them, with the vault at this address. */
async function startShop(product: PageProduct, vault: string): Promise<Shop> {
  const own = { STRONGROOM_URL: vault, STRONGROOM_KEY: product.key };
  const setup = await product.run(own, process.execPath, 'setup.mjs');
  assert.equal(setup.code, 0, setup.stderr);
  const keys = [...setup.stdout.matchAll(/^export (STRONGROOM_\w+_KEY)=(key_\w+)$/gm)].map(([, ...entry]) => entry);
  const env: CommandSettings = { STRONGROOM_URL: vault, ...Object.fromEntries(keys), PORT: '0' };
  const child = spawn(process.execPath, ['backend.mjs'], { cwd: product.folder, env: surroundings(env) });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const address = await addressOf(child).catch((error) => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    address,
    env,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

async function addressOf(child: ChildProcess): Promise<string> {
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (printed += String(chunk)));
  const address = () => /http:\S+\n/.exec(printed)?.[0].trim();
  await eventually('the shop listens', () => address() !== undefined || child.exitCode !== null, START_HANGS_MS);
  return address() ?? assert.fail(printed);
}

/** A visitor: loads the page, runs its script, types and presses the button. */
async function openPage(address: string) {
  const browser = createBrowserFetch(address);
  const page = await fetch(address);
  const html = await page.text();
  browser.remember(page);
  const [, source = ''] = /<script src="([^"]+)">/.exec(html) ?? [];
  const script = await (await fetch(new URL(source, address))).text();
  const names = [...html.matchAll(/<input name="(\w+)"/g)].map(([, name = '']) => [name, { value: '' }] as const);
  let submit: (event: object) => Promise<void> = () => assert.fail('the script listens');
  const elements: Record<string, { value: string }> = Object.fromEntries(names);
  const form = { elements, addEventListener: (_name: 'submit', act: typeof submit) => (submit = act) };
  const output = { textContent: '' };
  const parts: Readonly<Record<string, object>> = { form, pre: output };
  const document = { querySelector: (tag: string) => (html.includes(`<${tag}>`) ? parts[tag] : null) };
  runInContext(script, createContext({ document, fetch: browser.fetch, crypto: globalThis.crypto }));
  return {
    preflights: browser.preflights,
    said: () => output.textContent,
    async save(number: string) {
      (elements.number ?? assert.fail('the form has a field for the number')).value = number;
      await submit({ preventDefault() {} });
    },
  };
}

// needs: processes

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { findProgram, unless } from '@strongroom/test-servers/find.js';
import type { Mishap } from './faulty-way.js';
import { startFaultyWay } from './faulty-way.js';
import type { Block } from './page-blocks.js';
import { blocksOf, fileIn, shownBehind, withoutIds } from './page-blocks.js';
import type { PageProduct } from './page-product.js';
import { startPageProduct } from './page-product.js';
import { readPage } from './page-tables.js';

const PAGE = 'docs/clients.md';
const PYTHON = findProgram('python3');

/** A change is made and nobody hears of it; the server has had enough; a proxy has nobody to pass a request to. */
const MISHAPS: Readonly<Record<string, Mishap>> = {
  'POST /tokens': 'answer lost',
  'POST /tokens/search': {
    status: 429,
    headers: { 'Content-Type': 'application/problem+json', 'Retry-After': '1' },
    body: JSON.stringify({ code: 'rate_limited', detail: 'Too many requests from this address.' }),
  },
  'GET /logs': { status: 502, headers: { 'Content-Type': 'text/html' }, body: '<html>Bad gateway</html>' },
};

describe(PAGE, () => {
  let blocks: Block[];
  let product: PageProduct;
  before(async () => {
    blocks = await blocksOf(PAGE);
    product = await startPageProduct();
    for (const name of ['tour.mts', 'tour.py']) await product.save(name, fileIn(blocks, name));
  });
  after(() => product?.close());

  const inShell = (program: string): string[] =>
    blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => text.split('\n'))
      .filter((line) => line.startsWith(`${program} `))
      .map((line) => line.slice(program.length + 1));

  it('has no program but the two that are run here', () => {
    const programs = blocks.filter(({ language }) => !['sh', ''].includes(language));
    assert.deepEqual(
      programs.map(({ language, file }) => [language, file]),
      [
        ['ts', 'tour.mts'],
        ['python', 'tour.py'],
      ],
    );
  });

  it('has a TypeScript tour that compiles as it says, and prints what it shows', async () => {
    const [line = ''] = inShell('npx tsc');
    const compiled = await product.run({}, process.execPath, 'node_modules/typescript/bin/tsc', ...line.split(' '));
    assert.equal(compiled.code, 0, compiled.stdout);
    // So that a Node that strips types runs the very same file.
    const strips = ['--erasableSyntaxOnly', '--verbatimModuleSyntax', '--noEmit'];
    const plain = await product.run(
      {},
      process.execPath,
      'node_modules/typescript/bin/tsc',
      ...strips,
      ...line.split(' '),
    );
    assert.equal(plain.code, 0, plain.stdout);
    await assertTour(process.execPath, inShell('node'));
  });

  it('has a Python tour that prints the same', { skip: unless(PYTHON, 'Python') }, async () => {
    await assertTour(PYTHON ?? assert.fail('Python is there'), inShell('python3'));
  });

  it('tells of /openapi.json what is in it, and which type of errors a generated client gets', async () => {
    const page = await readPage(PAGE);
    const { call } = product.served;
    const { json: document } = await call('GET', '/openapi.json');
    const operations = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap(Object.values);
    const ids = new Set(operations.map(({ operationId }) => operationId));
    const named = [...page.matchAll(/`((?:get|post|put|patch|delete)_\w+)`/g)].map(([, id = '']) => id);
    assert.ok(named.length > 1);
    for (const id of named) assert.ok(ids.has(id), id);
    const tags = document.tags.map(({ name }: { name: string }) => name);
    for (const tag of ['Tokens', 'Applications', 'Logs']) assert.ok(page.includes(tag) && tags.includes(tag), tag);
    assert.deepEqual(document.servers, [{ url: '/' }]);
    assert.deepEqual(document.components.securitySchemes.apiKey, { type: 'apiKey', in: 'header', name: 'SVC-API-KEY' });
    const types = ['application/json', 'application/problem+json', '*/*'].map(async (Accept) => {
      const { status, headers } = await call('GET', '/tokens/none', { key: product.key, headers: { Accept } });
      assert.equal(status, 403);
      return headers.get('content-type');
    });
    const problem = 'application/problem+json';
    assert.deepEqual(await Promise.all(types), ['application/json', problem, problem]);
  });

  /** Once as it is, and once with mishaps on the way: nothing of that shows, and nothing is done twice. */
  async function assertTour(program: string, lines: readonly string[]): Promise<void> {
    const [line = ''] = lines;
    const { address } = product.served;
    assert.equal(await printedBy(program, line, address), withoutIds(shownBehind(blocks, 'Both print:')));
    const cards = await cardsStored();
    const way = await startFaultyWay(address, MISHAPS);
    try {
      assert.equal(await printedBy(program, line, way.address), withoutIds(shownBehind(blocks, 'Both print:')));
      assert.equal(await cardsStored(), cards + 1, 'a card whose answer was lost is stored once');
      for (const name of Object.keys(MISHAPS)) {
        const [first, second] = way.seen.filter(([each]) => each === name).map(([, idempotencyKey]) => idempotencyKey);
        assert.ok(first !== undefined && first === second, `${name} is asked again under the same key`);
      }
    } finally {
      await way.close();
    }
  }

  async function printedBy(program: string, line: string, address: string): Promise<string> {
    const env = { STRONGROOM_URL: address, STRONGROOM_KEY: product.key };
    const { code, stdout, stderr } = await product.run(env, program, ...line.split(' '));
    assert.equal(code, 0, stderr);
    return withoutIds(stdout);
  }

  async function cardsStored(): Promise<number> {
    const { json } = await product.served.call('GET', '/tenants/self/reports/usage', { key: product.key });
    return json.token_report.metrics_by_type.card.count;
  }
});

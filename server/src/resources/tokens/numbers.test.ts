import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { quoted, readPage, rowsUnder } from '../../testing/page-tables.js';
import type { TestVault } from './vault-fixture.js';
import { openVault, pathOf, writesNothing } from './vault-fixture.js';

const CHANGED = ['9007199254740992', '-9007199254740993', '12345678901234567890', '1e300', '1e400', '-1e400'];
const LOST_DIGITS = ['1.10000000000000000001', '1e-400', '4242424242424242.42'];
const KEPT = '[9007199254740991,-9007199254740991,0.1,0.30000000000000004,1e-7,5e-324,123456789012345]';

describe('numbers that could not be returned as they were sent', () => {
  let vault: TestVault;
  before(async () => {
    vault = await openVault();
  });
  after(() => vault.app.close());

  const send = (method: string, path: string, raw: string) => vault.app.call(method, path, { key: vault.key, raw });

  for (const number of [...CHANGED, ...LOST_DIGITS]) {
    it(`400 for ${number} in data, mask or encryption of a new token, with its path, and nothing is written`, async () => {
      const bodies: [string, string][] = [
        [`{"data":{"a":[${number}]}}`, 'data.a[0]'],
        [`{"data":1,"mask":${number}}`, 'mask'],
        [`{"data":1,"mask":{"a":[1,${number}],"b":"{{ data }}"}}`, 'mask.a[1]'],
        [`{"data":1,"encryption":{"cek":{"n":${number}}}}`, 'encryption.cek.n'],
      ];
      for (const [body, path] of bodies) {
        const one = await writesNothing(vault.app, () => send('POST', '/tokens', body));
        assert.deepEqual([one.status, Object.keys(one.json.errors)], [400, [path]], body);
        assert.match(one.json.errors[path][0], /send it as text/);
        const typed = body.replace('{', '{"type":"token",');
        const many = await writesNothing(vault.app, () => send('POST', '/tokenize', `{"x":[${typed}]}`));
        assert.deepEqual([many.status, Object.keys(many.json.errors)], [400, [`x[0].${path}`]], body);
      }
      const bare = await send('POST', '/tokenize', `["a",${number}]`);
      assert.deepEqual([bare.status, Object.keys(bare.json.errors)], [400, ['[1]']]);
    });
  }

  it('400 for them in data, mask or encryption of a change, and the token stays as it was', async () => {
    const { id } = await vault.make({ data: { a: 1 }, mask: { b: 2 }, encryption: { c: 3 } });
    for (const number of [...CHANGED, ...LOST_DIGITS]) {
      for (const [field, path] of [
        ['data', 'data.x'],
        ['mask', 'mask.x'],
        ['encryption', 'encryption.x'],
      ] as const) {
        const body = `{"${field}":{"x":${number}}}`;
        const { status, json } = await writesNothing(vault.app, () => send('PATCH', pathOf(id), body));
        assert.deepEqual([status, Object.keys(json.errors)], [400, [path]], body);
      }
    }
  });

  it('400 for them in a body to detokenize, which would have been answered with another number or null', async () => {
    for (const number of [...CHANGED, ...LOST_DIGITS]) {
      const { status, json } = await send('POST', '/detokenize', `{"amount":[${number}]}`);
      assert.deepEqual([status, Object.keys(json.errors)], [400, ['amount[0]']]);
    }
  });

  it('201 with every number that can be kept, and it comes back as the same number', async () => {
    const body = `{"data":${KEPT},"mask":${KEPT},"encryption":{"n":${KEPT}}}`;
    const { status, json, text } = await send('POST', '/tokens', body);
    assert.equal(status, 201, text);
    const read = await vault.send('GET', pathOf(json.id));
    for (const found of [read.json.data, read.json.mask, read.json.encryption.n]) {
      assert.deepEqual(found, JSON.parse(KEPT));
    }
    const echoed = await send('POST', '/detokenize', KEPT);
    assert.deepEqual([echoed.status, echoed.json], [200, JSON.parse(KEPT)]);
  });

  it('201 or 400, and back as docs/tokens.md shows it, digit by digit', async () => {
    const rows = rowsUnder(await readPage('docs/tokens.md'), ['Sent', 'Comes back', '']);
    assert.ok(rows.length > 10);
    for (const [sent = '', back = ''] of rows.map((cells) => cells.map(quoted))) {
      const made = await send('POST', '/tokens', `{"data":${sent}}`);
      assert.equal(made.status, back === '400' ? 400 : 201, sent);
      if (back === '400') continue;
      const { text } = await vault.send('GET', pathOf(made.json.id));
      assert.match(text, new RegExp(`"data":${back},`), sent);
    }
  });

  it('201 with them in fields that are not kept, and in text', async () => {
    const { status } = await send(
      'POST',
      '/tokens',
      '{"data":"12345678901234567890","unknown":1.10000000000000000001}',
    );
    assert.equal(status, 201);
  });
});

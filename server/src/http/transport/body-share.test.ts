import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { JsonScan } from '../../kernel/json-guard.js';
import { createLargeWork } from '../../kernel/large-work.js';
import { shareFor } from './body-share.js';

describe('the share of a body', () => {
  /** What is taken for it; 0 for none. */
  async function taken(text: string): Promise<number> {
    const { bytes } = createLargeWork();
    const body = Buffer.from(text);
    const scan = new JsonScan();
    scan.add(body, Number.POSITIVE_INFINITY);
    const release = await shareFor(bytes, 'tenant', 'POST', { body, scan });
    const found = bytes.taken();
    release?.();
    assert.equal(bytes.taken(), 0);
    return found;
  }
  const list = (items: number) => `{"type":"token","data":[${'{},'.repeat(items - 1)}{}]}`;

  it('is none for what is small, whatever it says', async () => {
    assert.equal(await taken(list(3_000)), 0);
  });

  it('is none for a text of 60,000 bytes', async () => {
    assert.equal(await taken(JSON.stringify({ type: 'token', data: 'x'.repeat(60_000) })), 0);
  });

  it('is what it becomes for many small values, also in less than 65,536 bytes', async () => {
    const text = list(21_700);
    assert.ok(text.length < 65_536);
    assert.ok((await taken(text)) > 1_000_000);
  });

  it('is taken for a text of 70,000 bytes', async () => {
    assert.ok((await taken(JSON.stringify({ type: 'token', data: 'x'.repeat(70_000) }))) > 280_000);
  });
});

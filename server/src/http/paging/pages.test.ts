import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { createInputReader } from '../routes/read-input.js';
import { cursorPage, OffsetQuery, offsetPage, pageAsked } from './pages.js';

const reader = createInputReader({ query: Type.Object(OffsetQuery) });
const read = (raw: string) => reader.query(raw).query;

test('page and size are taken within their bounds', () => {
  for (const [raw, query] of [
    ['', {}],
    ['page=1&size=1', { page: 1, size: 1 }],
    ['page=2147483647&size=100', { page: 2_147_483_647, size: 100 }],
    ['page=&size=', {}],
  ] as const) {
    assert.deepEqual(read(raw), query);
  }
});

test('400 for a page or size outside its bounds, or no whole number', () => {
  for (const raw of ['page=0', 'page=2147483648', 'page=-1', 'page=1.5', 'page=x', 'size=0', 'size=101', 'size=1e1']) {
    assert.throws(() => read(raw), { code: 'validation_failed' }, raw);
  }
  assert.throws(() => read('page=1&page=2'), { code: 'validation_failed' });
});

test('without parameters the first page has twenty items', () => {
  assert.deepEqual(pageAsked({}), { page: 1, size: 20, offset: 0 });
  assert.deepEqual(pageAsked({ page: 3, size: 10 }), { page: 3, size: 10, offset: 20 });
});

test('the last page is counted when it is not full, and no rows make no page', () => {
  const pages = (total: number) => offsetPage({ total, page: 9, size: 10 }).total_pages;
  assert.deepEqual([0, 1, 10, 11].map(pages), [0, 1, 1, 2]);
  const past = { total_items: 11, page_number: 9, page_size: 10, total_pages: 2 };
  assert.deepEqual(offsetPage({ total: 11, page: 9, size: 10 }), past);
});

test('the cursor of the next page stands under both names, and under none on the last', () => {
  assert.deepEqual(cursorPage(20, 'abc'), { page_size: 20, after: 'abc', next: 'abc' });
  assert.deepEqual(cursorPage(20, undefined), { page_size: 20 });
});

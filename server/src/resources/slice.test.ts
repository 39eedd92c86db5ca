import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isJsonRoute } from '../http/routes/any-route.js';
import { defineStream } from '../http/routes/stream-route.js';
import type { Slice } from './slice.js';

it('a slice declares routes that are no JSON beside its others', () => {
  const slice: Slice<object> = {
    name: 'pipes',
    routes: () => [
      defineStream({
        methods: ['GET', 'POST'],
        path: '/pipes/*',
        permission: 'any key',
        admits: ['application'],
        limits: [],
        bodyBytesMax: 1_000,
        durationMsMax: 1_000,
        handle: () => ({ status: 204, headers: [] }),
      }),
    ],
    events: [],
    tables: [],
  };
  const routes = slice.routes({});
  assert.deepEqual([routes.length, routes.filter(isJsonRoute).length], [1, 0]);
});

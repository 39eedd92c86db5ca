import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertProblem } from './client.js';
import { METHODS_BY_PATH } from './endpoints.js';
import type { Subject } from './subject.js';

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, object>>;
}

const SURFACE = ['/healthz', '/readyz', '/openapi.json', '/docs'];

export function operation(subject: () => Subject): void {
  describe('the operator surface', () => {
    for (const path of SURFACE) {
      it(`200 from ${path} without a key, for GET and HEAD, with a trailing slash; 405 for POST`, async () => {
        const { call } = subject();
        for (const address of [path, `${path}/`]) assert.equal((await call('GET', address)).status, 200, address);
        const head = await call('HEAD', path);
        assert.deepEqual([head.status, head.text], [200, '']);
        assertProblem(await call('POST', path), 405, 'method_not_allowed');
      });
    }

    it('describes in OpenAPI 3.1 every endpoint of the index and no other', async () => {
      const { openapi, paths } = (await subject().call('GET', '/openapi.json')).as<Document>();
      assert.match(openapi, /^3\.1\./);
      const described = Object.entries(paths)
        .filter(([path]) => !SURFACE.includes(path))
        .map(([path, methods]) => [path, Object.keys(methods).sort()] as const);
      const expected = [...METHODS_BY_PATH].map(([path, methods]) => [
        path,
        methods.map((method) => method.toLowerCase()).sort(),
      ]);
      assert.deepEqual(Object.fromEntries(described), Object.fromEntries(expected));
    });

    it('shows a page that loads nothing from another host', async () => {
      const { text, headers } = await subject().call('GET', '/docs');
      assert.match(headers.get('content-type') ?? '', /^text\/html/);
      assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
      assert.doesNotMatch(text, /(src|href)="(https?:)?\/\//);
      for (const [, address = ''] of text.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
        assert.equal((await subject().call('GET', address)).status, 200, address);
      }
    });
  });
}

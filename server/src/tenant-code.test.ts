import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isForCode } from './tenant-code.js';
import { idleRoutes } from './testing/idle-routes.js';
import type { TestApp } from './testing/test-app.js';
import { startTestApp } from './testing/test-app.js';

describe('what code of tenants can call', () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp();
  });
  after(() => app.close());

  it('is calls on tokens alone: nothing that uses tokens, shows a use of them, or manages', () => {
    const [open, closed] = [true, false].map((isOpen) =>
      idleRoutes(app)
        .filter((route) => isForCode(route) === isOpen)
        .map(({ method, path }) => `${method} ${path}`),
    );
    for (const name of open ?? []) assert.match(name, /^[A-Z]+ \/(v2\/)?(tokens|tokenize|detokenize)\b/);
    assert.ok(open?.includes('POST /tokens') && open.includes('POST /detokenize'));
    for (const name of ['POST /proxies/preview', 'POST /proxies/:id/preview', 'POST /reactors/:id/react']) {
      assert.ok(closed?.includes(name), name);
    }
  });
});

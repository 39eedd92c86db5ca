import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { TestApp } from '../test-app.js';
import { startTestApp } from '../test-app.js';
import { builtDocument, builtPortalDocument, DOCUMENT_FILE, fileText, PORTAL_FILE, readDocument } from './document.js';

describe(DOCUMENT_FILE, () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp();
  });
  after(() => app?.close());

  it('is what the route records say; `npm run openapi` writes it', async () => {
    assert.equal(await readFile(DOCUMENT_FILE, 'utf8'), fileText(builtDocument()));
  });

  it('is what a running server serves', async () => {
    const { json } = await app.call('GET', '/openapi.json');
    assert.deepEqual(await readDocument(DOCUMENT_FILE), json);
  });
});

describe(PORTAL_FILE, () => {
  it('is what the route records say; `npm run openapi` writes it', async () => {
    assert.equal(await readFile(PORTAL_FILE, 'utf8'), fileText(builtPortalDocument()));
  });
});

// needs: chromium
// alone: takes more than a minute of waiting for the browser

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { findBrowser } from '@strongroom/test-servers/find.js';
import { permissionsOf } from '../../access/permissions.js';
import { makeMember } from '../../resources/members/member-fixture.js';
import { eventually } from '../eventually.js';
import type { BrowserPage } from '../headless-browser.js';
import { openBrowserPage } from '../headless-browser.js';
import type { TestApp, TestTenant } from '../test-app.js';
import { startTestApp } from '../test-app.js';
import type { DocumentObject } from './document.js';
import { DOCUMENT_FILE, readDocument } from './document.js';
import type { LinkedRequest } from './linked-requests.js';
import { requestsOf } from './linked-requests.js';

const BROWSER = findBrowser();
const TENANT = 'A tenant "of value"';

describe('the API page in a real browser', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let page: BrowserPage;
  let keys: Readonly<Record<string, string>>;
  let requests: LinkedRequest[];
  let tagOf: ReadonlyMap<string, string>;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant(TENANT);
    // The newest member, whom the example of a change means: an owner keeps its role.
    await makeMember(app, tenant.id, 'READ_ONLY');
    const rules = [
      { priority: 1, container: '/', transform: 'reveal', permissions: permissionsOf('private') } as const,
    ];
    keys = {
      management: tenant.key,
      private: await app.makeKey(tenant.id, 'private', [], rules),
      public: await app.makeKey(tenant.id, 'public', permissionsOf('public')),
    };
    const document = await readDocument(DOCUMENT_FILE);
    requests = requestsOf(document);
    tagOf = tagsOf(document);
    page = await openBrowserPage(BROWSER ?? assert.fail('no browser was found'));
    await page.goto(`${app.baseUrl}/docs`);
    await seen('every operation', `document.querySelectorAll('.opblock').length === ${requests.length}`);
    for (const tag of new Set(tagOf.values())) await fold(tag, false);
  });
  after(async () => {
    await page?.close();
    await app?.close();
  });

  const seen = (what: string, condition: string) =>
    eventually(`the page shows ${what}`, async () => (await page.evaluate(`Boolean(${condition})`)) === true);

  const inOperation = (id: string, selector: string) => `document.querySelector('[id$="-${id}"] ${selector}')`;

  /** Through the dialog, as somebody does who has been given a key. */
  async function signIn(key: string): Promise<void> {
    await page.evaluate(`document.querySelector('.btn.authorize').click()`);
    await seen('the dialog', `document.querySelector('.dialog-ux .modal-btn')`);
    await page.evaluate(`(() => {
      const signOut = [...document.querySelectorAll('.dialog-ux button')].find(({ textContent }) => textContent === 'Logout');
      signOut?.click();
    })()`);
    await seen('a field for the key', `document.querySelector('.dialog-ux input')`);
    await page.evaluate(`(() => {
      const field = document.querySelector('.dialog-ux input');
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, ${JSON.stringify(key)});
      field.dispatchEvent(new Event('input', { bubbles: true }));
      document.querySelector('.dialog-ux .modal-btn.authorize').click();
    })()`);
    await seen('that the key is taken', `document.querySelector('.dialog-ux input') === null`);
    await page.evaluate(`document.querySelector('.dialog-ux .btn-done').click()`);
    await seen('no dialog', `document.querySelector('.dialog-ux') === null`);
  }

  /** Closed groups are not drawn: with all of them open, each click takes a second. */
  async function fold(tag: string, isOpen: boolean): Promise<void> {
    const heading = `document.querySelector('.opblock-tag[data-tag="${tag}"]')`;
    await page.evaluate(`${heading}.dataset.isOpen === '${!isOpen}' && ${heading}.click()`);
    await seen(`${tag} ${isOpen ? 'open' : 'closed'}`, `${heading}.dataset.isOpen === '${isOpen}'`);
  }

  async function open(id: string): Promise<void> {
    await fold(tagOf.get(id) ?? '', true);
    await seen(id, inOperation(id, '.opblock-summary-control'));
    const isOpen = await page.evaluate(`${inOperation(id, '.execute')} !== null`);
    if (!isOpen) await page.evaluate(`${inOperation(id, '.opblock-summary-control')}.click()`);
    await seen(`${id} to be sent`, inOperation(id, '.execute'));
  }

  /** One that stays open makes everything else on the page slower. */
  async function close(id: string): Promise<void> {
    await page.evaluate(`${inOperation(id, '.opblock-summary-control')}.click()`);
    await seen(`${id} closed`, `${inOperation(id, '.execute')} === null`);
    await fold(tagOf.get(id) ?? '', false);
  }

  /** Presses the button, and tells the status of the answer. */
  async function send({ operationId, method, path, body }: LinkedRequest): Promise<number> {
    await open(operationId);
    const place = JSON.stringify(['paths', path, method.toLowerCase()]);
    await seen('it whole', `window.ui.specSelectors.specResolvedSubtree(${place})`);
    const fields = `[...document.querySelectorAll('[id$="-${operationId}"] tr[data-param-in="path"] input')]`;
    await seen('every id', `${fields}.filter(({ value }) => value).length === ${path.split('{').length - 1}`);
    if (body !== undefined) await seen('a body', `${inOperation(operationId, 'textarea')}?.value`);
    await page.evaluate(`${inOperation(operationId, '.execute')}.click()`);
    const status = inOperation(operationId, '.live-responses-table tbody td.response-col_status');
    await seen(`the answer of ${operationId}`, status);
    const told = await page.evaluate(`${status}.textContent`);
    await close(operationId);
    return Number.parseInt(String(told), 10);
  }

  it('sends every request that has a body as it stands, and changes nothing dear', async () => {
    const statuses: unknown[] = [];
    for (const type of ['management', 'public', 'private']) {
      await signIn(keys[type] ?? '');
      const known = `"name": ${JSON.stringify(TENANT)}`;
      await open('put_tenants_self');
      const body = inOperation('put_tenants_self', 'textarea');
      await seen('the name of the tenant', `${body}?.value.includes(${JSON.stringify(known)})`);
      await close('put_tenants_self');
      for (const request of inOrder(requests, type)) {
        const status = await send(request);
        if (status !== request.status) statuses.push([request.operationId, status]);
      }
    }
    assert.deepEqual(statuses, []);
    const { json } = await app.call('GET', '/tenants/self', { key: tenant.key });
    assert.deepEqual(
      [json.name, json.settings],
      [TENANT, { fingerprint_tokens: 'false', deduplicate_tokens: 'false' }],
    );
    for (const key of Object.values(keys)) {
      assert.equal((await app.call('GET', '/applications/key', { key })).status, 200);
    }
    assert.deepEqual(page.said, []);
  });

  it('fills in no id of a deletion, and asks before the one that needs none', async () => {
    for (const { operationId, path } of requests.filter(({ method }) => method === 'DELETE')) {
      await open(operationId);
      const fields = `[...document.querySelectorAll('[id$="-${operationId}"] tr[data-param-in="path"] input')]`;
      const count = path.split('{').length - 1;
      await seen(`the fields of ${operationId}`, `${fields}.length === ${count}`);
      assert.equal(await page.evaluate(`${fields}.map(({ value }) => value).join('')`), '', operationId);
      await close(operationId);
    }
    await signIn(tenant.key);
    await open('delete_tenants_self');
    await page.evaluate(`${inOperation('delete_tenants_self', '.execute')}.click()`);
    await eventually('the page asks', () => page.asked.length > 0);
    assert.equal(await page.evaluate(`${inOperation('delete_tenants_self', '.live-responses-table')} === null`), true);
    assert.equal((await app.call('GET', '/tenants/self', { key: tenant.key })).status, 200);
  });
});

/** The group of each operation, by its id. */
function tagsOf({ paths }: DocumentObject): ReadonlyMap<string, string> {
  const operations = Object.values(paths as Readonly<Record<string, Readonly<Record<string, Tagged>>>>);
  const tagged = operations.flatMap((byMethod) => Object.values(byMethod));
  return new Map(tagged.map(({ operationId, tags: [tag = ''] }) => [operationId, tag]));
}

interface Tagged {
  readonly operationId: string;
  readonly tags: readonly string[];
}

/** What the key of one type sends, those first that others wait for: the document tells it by its links. */
function inOrder(requests: readonly LinkedRequest[], type: string): LinkedRequest[] {
  const ofType = requests.filter(({ applicationTypes }) => applicationTypes.at(-1) === type);
  const changes = ofType.filter(({ body }) => body !== undefined);
  const named = new Set(changes.filter(({ path }) => path.includes('{')).map(({ operationId }) => operationId));
  // Lists whose answers have the ids that changes need.
  const lists = ofType.filter(
    ({ method, path, links }) =>
      method === 'GET' && !path.includes('{') && Object.values(links).some(({ operationId }) => named.has(operationId)),
  );
  const own = [...lists, ...changes];
  const isTarget = (id: string): boolean =>
    own.some(({ links }) => Object.values(links).some(({ operationId }) => operationId === id));
  const depth = ({ operationId, path }: LinkedRequest): number =>
    (isTarget(operationId) ? 1 : 0) + path.split('{').length;
  return own.toSorted((a, b) => depth(a) - depth(b));
}

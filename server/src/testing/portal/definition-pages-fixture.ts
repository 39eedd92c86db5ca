import assert from 'node:assert/strict';
import type { Answer } from '../http-client.js';
import type { MemberAtBrowser, PortalOfTenant } from './tenant-pages-fixture.js';

/** What would run if a page took it for HTML, and the characters that would get it out of an attribute. */
export const HOSTILE = `<img src=x onerror=alert(1)>"'`;

/** What tests of the pages of Reactors and Proxies do again and again. */
export interface DefinitionTests {
  /** A call with the key of a management Application. */
  call(method: string, path: string, body?: object): Promise<Answer>;
  /** Makes one past the pages; gives its id. */
  make(path: '/reactors' | '/proxies', body: object): Promise<string>;
  /** Waits for the heading of the page. */
  heading(member: MemberAtBrowser, name: string): Promise<void>;
  /** Replaces what an editor shows. */
  write(member: MemberAtBrowser, editor: string, text: string): Promise<void>;
}

export function definitionTests(portal: () => PortalOfTenant): DefinitionTests {
  const call: DefinitionTests['call'] = (method, path, body) =>
    portal().mailed.app.call(method, path, { key: portal().tenant.key, ...(body && { body }) });
  return {
    call,
    async make(path, body) {
      const made = await call('POST', path, body);
      assert.equal(made.status, 201, made.text);
      return made.json.id;
    },
    heading: ({ page }, name) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor(),
    write: ({ page }, editor, text) => page.getByRole('textbox', { name: editor, exact: true }).fill(text),
  };
}

/** That nothing on the page became an element that was written as text. */
export async function assertNothingRan({ page }: MemberAtBrowser): Promise<void> {
  assert.equal(await page.locator('img[src="x"]').count(), 0);
}

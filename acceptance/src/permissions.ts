import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertConventional, assertNeedsKey, assertProblem } from './client.js';
import type { Resource } from './resource.js';
import { endpoint } from './resource.js';
import type { Subject } from './subject.js';

interface Permission {
  readonly type: string;
  readonly description: string;
  readonly application_types: readonly string[];
}

const row = (type: string, description: string, ...application_types: string[]): Permission => ({
  type,
  description,
  application_types,
});

/** The complete list of the specification. */
const PERMISSIONS: readonly Permission[] = [
  row('token:create', 'Create tokens', 'public', 'private'),
  row('token:update', 'Update tokens', 'public', 'private'),
  row('token:read', 'Read tokens', 'private'),
  row('token:search', 'Search tokens', 'private'),
  row('token:delete', 'Delete tokens', 'private'),
  row('token:use', "Use tokens in the service's own features (for example Proxy, Reactors)", 'private'),
  row('tenant:read', 'Read Tenants', 'management'),
  row('tenant:update', 'Update Tenants', 'management'),
  row('tenant:delete', 'Delete Tenants', 'management'),
  row('application:read', 'Read Applications', 'management'),
  row('application:create', 'Create Applications', 'management'),
  row('application:update', 'Update Applications and regenerate their API keys', 'management'),
  row('application:delete', 'Delete Applications', 'management'),
  row('log:read', 'Read audit logs', 'management'),
  ...['Reactors', 'Proxies'].flatMap((plural, index) =>
    ['read', 'create', 'update', 'delete'].map((action) => {
      const verb = `${action.charAt(0).toUpperCase()}${action.slice(1)}`;
      return row(`${index === 0 ? 'reactor' : 'proxy'}:${action}`, `${verb} ${plural}`, 'management');
    }),
  ),
  row('tenant:member:read', 'Read Tenant members', 'management'),
  row('tenant:member:update', 'Update Tenant members', 'management'),
  row('tenant:member:delete', 'Delete Tenant members', 'management'),
  row('tenant:invitation:create', 'Create Tenant invitations', 'management'),
  row('tenant:invitation:read', 'Read Tenant invitations', 'management'),
  row('tenant:invitation:update', 'Update Tenant invitations', 'management'),
  row('tenant:invitation:delete', 'Delete Tenant invitations', 'management'),
  row('report:read', 'Read reports', 'management'),
];

function suite(subject: () => Subject): void {
  const PATH = '/permissions';
  const get = (path: string, key = subject().keys.management) => subject().call('GET', path, { key });

  describe('GET /permissions', () => {
    it('200 with the thirty permissions of the specification, for any valid key, in any tenant', async () => {
      const { management, readOnly, unrelated, otherTenantManagement, ...rest } = subject().keys;
      for (const key of [management, readOnly, unrelated, otherTenantManagement, rest.public, rest.private]) {
        const answer = await get(PATH, key);
        assert.equal(answer.status, 200);
        assert.deepEqual(answer.as<Permission[]>(), PERMISSIONS);
      }
    });

    for (const type of ['public', 'private', 'management']) {
      it(`200 with what a ${type} application may hold`, async () => {
        const answer = await get(`${PATH}?application_type=${type}`);
        const expected = PERMISSIONS.filter(({ application_types }) => application_types.includes(type));
        assert.ok(expected.length > 0);
        assert.deepEqual(answer.as<Permission[]>(), expected);
      });
    }

    it('200 unfiltered for an empty type and for parameters nobody knows', async () => {
      for (const query of ['application_type=', 'color=red', 'color=red&application_type=']) {
        assert.deepEqual((await get(`${PATH}?${query}`)).as<Permission[]>(), PERMISSIONS);
      }
    });

    it('400 for a type that is none, naming the three, and for a type given twice', async () => {
      for (const query of ['application_type=admin', 'application_type=Public', 'application_type=public,private']) {
        const { errors } = assertProblem(await get(`${PATH}?${query}`), 400, 'validation_failed');
        assert.match(errors?.application_type?.[0] ?? '', /public.*private.*management/);
      }
      assertProblem(await get(`${PATH}?application_type=public&application_type=private`), 400, 'validation_failed');
    });

    it('401 without a key or with a wrong one', () => assertNeedsKey(subject().call, 'GET', PATH));

    it('405 for POST, with what the path takes', async () => {
      const answer = await subject().call('POST', PATH, { key: subject().keys.management, body: {} });
      assertProblem(answer, 405, 'method_not_allowed');
      assert.equal(answer.headers.get('allow'), 'GET, HEAD, OPTIONS');
    });

    it('200 for HEAD, with a trailing slash and from another origin', () =>
      assertConventional(subject().call, `${PATH}?application_type=public`, subject().keys.public));
  });
}

export const permissions: Resource = {
  endpoints: [endpoint(['GET', '/permissions'], 'any key', 200, [400, 401])],
  needsNoTokens: true,
  suite,
};

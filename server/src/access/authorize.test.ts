import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Requirement } from './authorize.js';
import { authorize, permissionsIn } from './authorize.js';
import type { ApplicationType, Permission } from './permissions.js';
import type { Admits, Principal } from './principal.js';

type Kind = ApplicationType | 'pending session' | 'authorized session' | 'user';
const KEYS: readonly Kind[] = ['public', 'private', 'management', 'pending session', 'authorized session'];
const KINDS: readonly Kind[] = [...KEYS, 'user'];

/** Everybody holds token:read, so that only the kind of credential makes a difference. */
function principal(kind: Kind): Principal {
  const common = { tenantId: 't', permissions: new Set(['token:read'] as const), grants: [] } as const;
  if (kind === 'user')
    return { ...common, kind: 'user', role: 'ADMIN', sessionId: 's', isFresh: true, actor: { type: 'user', id: 'u' } };
  const application = { ...common, applicationId: 'a' };
  if (kind === 'pending session' || kind === 'authorized session') {
    const isAuthorized = kind === 'authorized session';
    return { ...application, kind: 'session', isAuthorized, actor: { type: 'session', id: 's' } };
  }
  const actor = { type: 'application', id: 'a' } as const;
  return { ...application, kind: 'application', applicationType: kind, keyId: 'k', actor };
}

const BY_KEY = ['application', 'session'] as const;

describe('what a route asks for', () => {
  for (const [requirement, admits, admitted, code] of [
    ['public', 'anyone', KINDS, ''],
    ['any key', BY_KEY, KEYS, 'wrong_application_type'],
    ['any application key', ['application'], ['public', 'private', 'management'], 'wrong_application_type'],
    ['public application key', ['application'], ['public'], 'wrong_application_type'],
    ['private application key', ['application'], ['private'], 'wrong_application_type'],
    ['token:read', BY_KEY, KEYS, 'permission_denied'],
    ['token:read', ['application'], ['public', 'private', 'management'], 'permission_denied'],
    ['token:read', ['user'], ['user'], 'permission_denied'],
    ['token:use', BY_KEY, [], 'permission_denied'],
    ['token:use or proxy:update', BY_KEY, [], 'permission_denied'],
    ['tenant:delete', BY_KEY, [], 'permission_denied'],
    ['tenant:delete', ['user'], [], 'permission_denied'],
  ] satisfies [Requirement, Admits, readonly Kind[], string][]) {
    it(`${requirement} of ${admits}: admits ${admitted.join(', ') || 'nobody here'}`, () => {
      const door = { permission: requirement, admits };
      for (const kind of KINDS) {
        if ((admitted as readonly Kind[]).includes(kind)) authorize(principal(kind), door);
        else assert.throws(() => authorize(principal(kind), door), { code, status: 403 }, kind);
      }
    });
  }

  it('either of two permissions is enough, and a third opens nothing', () => {
    const door = { permission: 'token:use or proxy:update', admits: BY_KEY } as const;
    const holder = (...held: readonly Permission[]): Principal => ({
      ...principal('private'),
      permissions: new Set(held),
    });
    for (const held of [['token:use'], ['proxy:update'], ['token:use', 'proxy:update']] as const) {
      authorize(holder(...held), door);
    }
    for (const held of [[], ['token:read'], ['proxy:read', 'token:create']] as const) {
      assert.throws(() => authorize(holder(...held), door), { code: 'permission_denied', status: 403 });
    }
    assert.throws(() => authorize(holder('token:use'), { ...door, admits: ['user'] }), { code: 'permission_denied' });
  });

  it('is one permission, either of some, or none at all', () => {
    assert.deepEqual(permissionsIn('token:use'), ['token:use']);
    assert.deepEqual(permissionsIn('token:use or proxy:update'), ['token:use', 'proxy:update']);
    for (const other of ['public', 'any key', 'private application key'] as const) {
      assert.deepEqual(permissionsIn(other), []);
    }
  });

  it('403 in the same words whether a kind is not admitted or lacks the permission, so that nothing is told by it', () => {
    const detail = (admits: Admits): string => {
      try {
        authorize(principal('authorized session'), { permission: 'log:read', admits });
        return 'let in';
      } catch (error) {
        return String(error);
      }
    };
    assert.equal(detail(['application']), detail(['session']));
    assert.match(detail(['application']), /which the session does not hold/);
  });
});

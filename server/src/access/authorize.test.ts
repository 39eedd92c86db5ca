import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Requirement } from './authorize.js';
import { authorize } from './authorize.js';
import type { ApplicationType } from './permissions.js';
import type { Principal } from './principal.js';

type Kind = ApplicationType | 'pending session' | 'authorized session';
const KINDS: readonly Kind[] = ['public', 'private', 'management', 'pending session', 'authorized session'];

/** Everybody holds token:read, so that only the kind of key makes a difference. */
function principal(kind: Kind): Principal {
  const isSession = kind === 'pending session' || kind === 'authorized session';
  return {
    tenantId: 't',
    applicationId: 'a',
    applicationType: isSession ? (kind === 'pending session' ? 'public' : 'private') : kind,
    actor: { type: isSession ? 'session' : 'application', id: 'a' },
    permissions: new Set(['token:read']),
    grants: [],
  };
}

describe('what a route asks for', () => {
  for (const [requirement, admitted, code] of [
    ['public', KINDS, ''],
    ['any key', KINDS, ''],
    ['any application key', ['public', 'private', 'management'], 'wrong_application_type'],
    ['public application key', ['public'], 'wrong_application_type'],
    ['private application key', ['private'], 'wrong_application_type'],
    ['token:read', KINDS, ''],
    ['token:use', [], 'permission_denied'],
    ['tenant:delete', [], 'permission_denied'],
  ] satisfies [Requirement, readonly Kind[], string][]) {
    it(`${requirement}: admits ${admitted.join(', ') || 'nobody here'}`, () => {
      for (const kind of KINDS) {
        if ((admitted as readonly Kind[]).includes(kind)) authorize(principal(kind), requirement);
        else assert.throws(() => authorize(principal(kind), requirement), { code, status: 403 }, kind);
      }
    });
  }
});

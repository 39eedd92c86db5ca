import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RuleDraft } from './check-rules.js';
import { checkRights } from './check-rules.js';
import type { Grantee } from './grants.js';
import { grantsOf, parseRules, rulesText } from './grants.js';
import { isPermission, permissionsOf } from './permissions.js';

const GOOD: RuleDraft = { priority: 1, container: '/pci/', permissions: ['token:create'] };

function errorsOf(grantee: Grantee | undefined, rules: readonly RuleDraft[], permissions: readonly string[] = []) {
  const checked = checkRights(grantee, { permissions, rules });
  return 'errors' in checked ? checked.errors : {};
}

function rulesOf(grantee: Grantee, rules: readonly RuleDraft[]) {
  const checked = checkRights(grantee, { permissions: [], rules });
  assert.ok('rights' in checked);
  return checked.rights.rules;
}

describe('rules that are accepted', () => {
  it('are masked unless they say otherwise, in lower case, with each permission once', () => {
    const draft = { priority: 7, container: '/PCI/High-1_x/', permissions: ['token:use', 'token:read', 'token:use'] };
    assert.deepEqual(rulesOf('private', [draft]), [
      {
        description: undefined,
        priority: 7,
        container: '/pci/high-1_x/',
        conditions: undefined,
        transform: 'mask',
        permissions: ['token:read', 'token:use'],
      },
    ]);
  });

  it('come back from their stored text as they were, and in the order of their priority as grants', () => {
    const rules = rulesOf('private', [
      { ...GOOD, priority: 9, description: 'ü' },
      { ...GOOD, priority: 2, transform: 'reveal' },
    ]);
    assert.deepEqual(parseRules(rulesText(rules)).map(withoutUndefined), rules.map(withoutUndefined));
    assert.equal(rulesText(parseRules(rulesText(rules))), rulesText(rules));
    assert.deepEqual(
      grantsOf('private', [], rulesText(rules)).rules.map(({ priority }) => priority),
      [2, 9],
    );
  });

  it('may go by conditions in a session, whose containers are compared in lower case and ids as they are', () => {
    const conditions = [
      { attribute: 'container', operator: 'starts_with', value: '/PCI' },
      { attribute: 'id', operator: 'equals', value: 'ID' },
    ] as const;
    const [rule] = rulesOf('session', [{ priority: 1, conditions, permissions: ['token:read'] }]);
    assert.deepEqual(
      rule?.conditions?.map(({ value }) => value),
      ['/pci', 'ID'],
    );
  });

  it('take an empty list of conditions for none', () => {
    assert.equal(rulesOf('public', [{ ...GOOD, conditions: [] }])[0]?.conditions, undefined);
  });
});

describe('rules that are refused', () => {
  for (const container of [
    'pci',
    '/pci',
    'pci/',
    '//',
    '/p//c/',
    '/p c/',
    '/ü/',
    '/a.b/',
    '',
    `/${'a'.repeat(199)}/`,
  ]) {
    it(`for the container ${container.slice(0, 20)}`, () => {
      assert.deepEqual(Object.keys(errorsOf('public', [{ ...GOOD, container }])), ['rules[0].container']);
    });
  }

  it('for a priority that is taken, named at the later one', () => {
    const rules = [GOOD, { ...GOOD, priority: 2 }, { ...GOOD, container: '/' }];
    assert.deepEqual(Object.keys(errorsOf('public', rules)), ['rules[2].priority']);
  });

  it('for conditions on an application, before its type is known too', () => {
    const conditions = [{ attribute: 'id', operator: 'equals', value: 'x' }] as const;
    for (const grantee of ['public', 'private', undefined] as const) {
      assert.deepEqual(Object.keys(errorsOf(grantee, [{ ...GOOD, conditions }])), ['rules[0].conditions']);
      const { container: _, ...bare } = GOOD;
      assert.deepEqual(Object.keys(errorsOf(grantee, [bare])), ['rules[0].container']);
    }
  });

  it('in a session for both a container and conditions, and for neither', () => {
    const conditions = [{ attribute: 'id', operator: 'equals', value: 'x' }] as const;
    assert.deepEqual(Object.keys(errorsOf('session', [{ ...GOOD, conditions }])), ['rules[0].conditions']);
    const { container: _, ...bare } = GOOD;
    assert.deepEqual(Object.keys(errorsOf('session', [bare])), ['rules[0].container']);
  });

  it('for permissions that are none, that are not about tokens or that the type may not hold', () => {
    for (const [permissions, message] of [
      [[], /at least one/],
      [['token:nonsense'], /token:nonsense is not a permission/],
      [['tenant:read'], /not about tokens/],
      [['token:read'], /cannot be held by a public application/],
    ] as const) {
      const errors = errorsOf('public', [{ ...GOOD, permissions }]);
      assert.deepEqual(Object.keys(errors), ['rules[0].permissions']);
      assert.match(errors['rules[0].permissions']?.join() ?? '', message);
    }
  });

  it('for a management application, and for nothing at all', () => {
    assert.deepEqual(Object.keys(errorsOf('management', [GOOD], ['tenant:read'])), ['rules']);
    assert.deepEqual(Object.keys(errorsOf('private', [])), ['permissions']);
  });

  it('in a session for more than a hundred conditions in all, and not for a hundred', () => {
    const condition = { attribute: 'id', operator: 'equals', value: 'x' } as const;
    const rules = Array.from({ length: 5 }, (_, index) => ({
      priority: index + 1,
      conditions: Array.from({ length: 20 }, () => condition),
      permissions: ['token:read'],
    }));
    assert.deepEqual(errorsOf('session', rules), {});
    const last = { priority: 6, conditions: [condition], permissions: ['token:read'] };
    assert.deepEqual(Object.keys(errorsOf('session', [...rules, last])), ['rules']);
  });

  it('without repeating what looks like a key', () => {
    const key = `key_mgt_${'A'.repeat(32)}`;
    const errors = errorsOf('private', [{ ...GOOD, permissions: [key] }], [key]);
    assert.doesNotMatch(JSON.stringify(errors), /key_mgt/);
    assert.match(errors.permissions?.join() ?? '', /entry 1/);
  });
});

describe('what a session can be given', () => {
  it('is each token permission and no other', () => {
    for (const name of [...permissionsOf('management'), ...permissionsOf('private')].filter(isPermission)) {
      const isRefused = Object.keys(errorsOf('session', [], [name])).length > 0;
      assert.equal(isRefused, !name.startsWith('token:'), name);
    }
  });

  it('is nothing else even under a valid seal', () => {
    const { permissions, rules } = grantsOf(
      'session',
      ['tenant:read', 'token:read', 'x'],
      rulesText([
        {
          description: undefined,
          priority: 1,
          container: '/',
          conditions: undefined,
          transform: 'reveal',
          permissions: ['tenant:delete', 'token:use'],
        },
      ]),
    );
    assert.deepEqual([[...permissions], rules[0]?.permissions], [['token:read'], ['token:use']]);
  });
});

function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

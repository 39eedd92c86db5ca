import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { decide, decideAll, holds } from './decide.js';
import { grantsOf, heldBy, rulesText } from './grants.js';
import type { Permission } from './permissions.js';
import type { Principal } from './principal.js';
import type { Condition, Grants, Rule, Transform } from './rules.js';

const TOKEN_PERMISSIONS = [
  'token:create',
  'token:update',
  'token:read',
  'token:search',
  'token:delete',
  'token:use',
] as const;

function rule(given: Partial<Rule>): Rule {
  const base = { description: undefined, priority: 1, container: undefined, conditions: undefined };
  return { ...base, transform: 'mask', permissions: ['token:read'], ...given };
}

function principal(...grants: Grants[]): Principal {
  return {
    kind: 'application',
    tenantId: 't',
    applicationId: 'a',
    keyId: 'k',
    applicationType: 'private',
    actor: { type: 'application', id: 'a' },
    permissions: new Set(grants.flatMap((one) => [...heldBy(one)])),
    grants,
  };
}

const withRules = (...rules: Rule[]): Principal => principal({ permissions: new Set(), rules });
const withPlain = (...permissions: Permission[]): Principal =>
  principal({ permissions: new Set(permissions), rules: [] });
const at = (...containers: string[]) => ({ id: 'tok_1', containers });

describe('one rule', () => {
  for (const [container, place, isCovered] of [
    ['/pci/', '/pci/', true],
    ['/pci/', '/pci/high/', true],
    ['/pci/', '/pci/high/deep/', true],
    ['/pci/high/', '/pci/', false],
    ['/pci/', '/pcip/', false],
    ['/pci/', '/general/pci/', false],
    ['/', '/anything/at/all/', true],
    ['/', '/', true],
    ['/pci/', '/', false],
  ] as const) {
    it(`on ${container} ${isCovered ? 'covers' : 'does not cover'} ${place}`, () => {
      const reader = withRules(rule({ container, transform: 'reveal' }));
      assert.equal(decide(reader, 'token:read', at(place)), isCovered ? 'reveal' : undefined);
    });
  }

  it('grants only what it lists', () => {
    const reader = withRules(rule({ container: '/', permissions: ['token:read', 'token:use'] }));
    const granted = TOKEN_PERMISSIONS.filter((permission) => decide(reader, permission, at('/a/')) !== undefined);
    assert.deepEqual(granted, ['token:read', 'token:use']);
    assert.ok(holds(reader, 'token:use') && !holds(reader, 'token:delete'));
  });

  it('with neither container nor conditions covers nothing', () => {
    assert.equal(decide(withRules(rule({})), 'token:read', at('/a/')), undefined);
    assert.equal(decide(withRules(rule({ conditions: [] })), 'token:read', at('/a/')), undefined);
  });
});

describe('conditions', () => {
  const decideBy = (conditions: Condition[], token = at('/pci/high/', '/other/')) =>
    decide(withRules(rule({ conditions, transform: 'reveal' })), 'token:read', token);

  for (const [attribute, operator, value, isMet] of [
    ['id', 'equals', 'tok_1', true],
    ['id', 'equals', 'tok_', false],
    ['id', 'equals', 'TOK_1', false],
    ['id', 'starts_with', 'tok', true],
    ['id', 'starts_with', 'ok', false],
    ['container', 'equals', '/other/', true],
    ['container', 'equals', '/pci/', false],
    ['container', 'starts_with', '/pci/', true],
    ['container', 'starts_with', '/oth', true],
    ['container', 'starts_with', 'pci', false],
  ] as const) {
    it(`${attribute} ${operator} ${value} ${isMet ? 'holds' : 'does not hold'}`, () => {
      assert.equal(decideBy([{ attribute, operator, value }]), isMet ? 'reveal' : undefined);
    });
  }

  it('must all hold', () => {
    const mine: Condition = { attribute: 'id', operator: 'equals', value: 'tok_1' };
    const there: Condition = { attribute: 'container', operator: 'equals', value: '/other/' };
    const elsewhere: Condition = { attribute: 'container', operator: 'equals', value: '/nowhere/' };
    assert.equal(decideBy([mine, there]), 'reveal');
    assert.equal(decideBy([mine, elsewhere]), undefined);
  });
});

describe('plain permissions', () => {
  it('act as a last rule on everything: masked, and revealed for use', () => {
    for (const permission of TOKEN_PERMISSIONS) {
      const expected = permission === 'token:use' ? 'reveal' : 'mask';
      assert.equal(decide(withPlain(permission), permission, at('/any/')), expected);
      assert.equal(decideAll(withPlain(permission), permission, at('/any/', '/other/')), expected);
      for (const other of TOKEN_PERMISSIONS.filter((name) => name !== permission)) {
        assert.equal(decide(withPlain(permission), other, at('/any/')), undefined);
      }
    }
  });

  it('do not loosen what a rule said first', () => {
    const redacted = rule({ container: '/pci/', transform: 'redact' });
    const both = principal({ permissions: new Set(['token:read']), rules: [redacted] });
    assert.equal(decide(both, 'token:read', at('/pci/')), 'redact');
    assert.equal(decide(both, 'token:read', at('/bank/')), 'mask');
  });
});

describe('several containers', () => {
  const rules = [
    rule({ priority: 1, container: '/pci/', transform: 'reveal', permissions: ['token:read', 'token:update'] }),
    rule({ priority: 2, container: '/bank/', transform: 'redact', permissions: ['token:read', 'token:update'] }),
  ];

  it('reading needs one of them covered, and the first rule that covers any decides', () => {
    assert.equal(decide(withRules(...rules), 'token:read', at('/bank/', '/pci/')), 'reveal');
    assert.equal(decide(withRules(...rules), 'token:read', at('/none/', '/bank/')), 'redact');
    assert.equal(decide(withRules(...rules), 'token:read', at('/none/')), undefined);
  });

  it('updating needs each of them granted, and the strictest shapes the answer', () => {
    assert.equal(decideAll(withRules(...rules), 'token:update', at('/pci/', '/bank/')), 'redact');
    assert.equal(decideAll(withRules(...rules), 'token:update', at('/pci/')), 'reveal');
    assert.equal(decideAll(withRules(...rules), 'token:update', at('/pci/', '/none/')), undefined);
    assert.equal(decideAll(withRules(...rules), 'token:update', at()), undefined);
  });
});

const transform = fc.constantFrom<Transform>('reveal', 'mask', 'redact');
const container = fc.constantFrom('/', '/pci/', '/pci/high/', '/bank/', '/bank/low/');
const permission = fc.constantFrom(...TOKEN_PERMISSIONS);
const condition = fc.record<Condition>({
  attribute: fc.constantFrom('id', 'container'),
  operator: fc.constantFrom('equals', 'starts_with'),
  value: fc.constantFrom('tok_1', 'tok', '/pci/', '/bank/low/'),
});
const permissions = fc.uniqueArray(permission, { minLength: 1 });
const place = fc.oneof(
  fc.record({ container, conditions: fc.constant(undefined) }),
  fc.record({ container: fc.constant(undefined), conditions: fc.array(condition, { minLength: 1, maxLength: 2 }) }),
);
const anyRule = fc
  .tuple(place, transform, permissions, fc.integer({ min: 1, max: 1_000 }))
  .map(([where, shown, names, priority]) => rule({ ...where, transform: shown, permissions: names, priority }));
const anyGrants = fc
  .tuple(fc.uniqueArray(permission), fc.uniqueArray(anyRule, { maxLength: 5, selector: ({ priority }) => priority }))
  .map(([plain, rules]) => grantsOf('private', plain, rulesText(rules)));
const token = fc
  .tuple(fc.constantFrom('tok_1', 'tok_2', 'x'), fc.uniqueArray(container, { minLength: 1 }))
  .map(([id, containers]) => ({ id, containers }));
const STRICTNESS = ['reveal', 'mask', 'redact', undefined];
const strictness = (shown: Transform | undefined): number => STRICTNESS.indexOf(shown);

test('rules of any order of writing are tried by priority', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(anyRule, { maxLength: 6, selector: ({ priority }) => priority }),
      permission,
      token,
      (rules, name, where) => {
        const [there, back] = [rules, [...rules].reverse()].map((list) =>
          decide(principal(grantsOf('private', [], rulesText(list))), name, where),
        );
        assert.equal(there, back);
        const sorted = [...rules].sort((a, b) => a.priority - b.priority);
        const first = sorted.find((one) => decide(withRules({ ...one }), name, where) !== undefined);
        assert.equal(there, first?.transform);
      },
    ),
  );
});

test('a further grant that must agree never shows more, and never lets more through', () => {
  fc.assert(
    fc.property(anyGrants, anyGrants, permission, token, (own, cap, name, where) => {
      for (const ask of [decide, decideAll]) {
        const [alone, other, both] = [principal(own), principal(cap), principal(own, cap)].map((who) =>
          ask(who, name, where),
        );
        assert.equal(strictness(both), Math.max(strictness(alone), strictness(other)));
      }
    }),
  );
});

test('what is granted for every container is granted for each of them, and no stricter alone', () => {
  fc.assert(
    fc.property(anyGrants, permission, token, (grants, name, { id, containers }) => {
      const who = principal(grants);
      const alone = containers.map((one) => decideAll(who, name, { id, containers: [one] }));
      const together = decideAll(who, name, { id, containers });
      assert.equal(strictness(together), Math.max(...alone.map(strictness)));
      assert.deepEqual(
        alone,
        containers.map((one) => decide(who, name, { id, containers: [one] })),
      );
    }),
  );
});

test('nothing is granted that is not held at all', () => {
  fc.assert(
    fc.property(anyGrants, permission, token, (grants, name, where) => {
      const who = principal(grants);
      if (!holds(who, name)) assert.equal(decide(who, name, where) ?? decideAll(who, name, where), undefined);
    }),
  );
});

test('nobody to grant anything grants nothing', () => {
  assert.equal(decide(principal(), 'token:read', at('/a/')), undefined);
  assert.equal(decideAll(principal(), 'token:read', at('/a/')), undefined);
});

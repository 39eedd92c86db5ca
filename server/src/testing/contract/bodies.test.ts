// needs: time

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ApplicationType } from '../../access/permissions.js';
import { documentPath, exampleBodyOf } from '../../http/openapi/examples.js';
import { OWN_FORMATS } from '../../http/openapi/publish.js';
import { createInputReader } from '../../http/routes/read-input.js';
import type { RouteRecord } from '../../http/routes/route.js';
import { takesBody } from '../../http/routes/route.js';
import type { FieldErrors } from '../../kernel/errors.js';
import { AppError } from '../../kernel/errors.js';
import { checkTimedRights } from '../../resources/applications/definition/definition.js';
import { readProxy, readProxyPatch } from '../../resources/proxies/definition/input.js';
import { readEphemeralPreview, readStoredPreview } from '../../resources/proxies/preview/input.js';
import { readReactor, readReactorPatch, readTrial } from '../../resources/reactors/definition/input.js';
import { readReactAsyncBody, readReactBody } from '../../resources/reactors/run/input.js';
import { readNewToken } from '../../resources/tokens/input/new-token.js';
import { readTokenPatch } from '../../resources/tokens/input/token-patch.js';
import { readTokenizeBody } from '../../resources/tokens/input/tokenize.js';
import { findExpressions } from '../../vault/use/find-expressions.js';
import { allRoutes, builtDocument } from './document.js';
import { createBodyJudge } from './published-bodies.js';
import { mutationsOf, wildValue } from './wild-values.js';

const RUNS = 2_000;
/** Fewer would say little: most bodies must not be refused for the same few reasons. */
const TAKEN_MIN = 100;
const CONTEXT_ID = '4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10';
const CONTEXT = { path: '', nowMs: Date.UTC(2026, 0, 1) };

/** What a reader says of a body: nothing, or its sentences. */
type Read = (body: never) => readonly string[];

/** Routes that read their body by themselves: the very function that does. */
const READERS: Readonly<Record<string, Read>> = {
  'POST /tokens': (body) => faultsOf((errors) => readNewToken(body, CONTEXT, errors)),
  'PATCH /tokens/{id}': (body) => faultsOf((errors) => readTokenPatch(body, CONTEXT, errors)),
  'POST /tokenize': (body) => faultsOf((errors) => readTokenizeBody(body, CONTEXT, errors, Infinity)),
  'POST /detokenize': (body) => faultsOf(() => findExpressions(body)),
  'POST /proxies': (body) => faultsOf(() => readProxy(body)),
  'PUT /proxies/{id}': (body) => faultsOf(() => readProxy(body)),
  'PATCH /proxies/{id}': (body) => faultsOf(() => readProxyPatch(body)),
  'POST /proxies/{id}/preview': (body) => faultsOf(() => readStoredPreview(body)),
  'POST /proxies/preview': (body) => faultsOf(() => readEphemeralPreview(body)),
  'POST /reactors': (body) => faultsOf(() => readReactor(body)),
  'PUT /reactors/{id}': (body) => faultsOf(() => readReactor(body)),
  'PATCH /reactors/{id}': (body) => faultsOf(() => readReactorPatch(body)),
  'POST /reactors/{id}/react': (body) => faultsOf(() => readReactBody(body)),
  'POST /reactors/{id}/react-async': (body) => faultsOf(() => readReactAsyncBody(body)),
  'POST /reactors/{id}/test': (body) => faultsOf(() => readTrial(body, true)),
  'POST /reactors/test': (body) => faultsOf(() => readTrial(body, false)),
};

type Rights = Parameters<typeof checkTimedRights>[1];
const HOURS_AHEAD_MAX = 24;

/** Routes that check more than their schema says: what comes behind it. */
const CHECKS: Readonly<Record<string, (body: never) => ReturnType<typeof checkTimedRights>>> = {
  'POST /applications': (body: Rights & { readonly type: ApplicationType }) =>
    checkTimedRights(body.type, body, CONTEXT),
  // Checked anew by the type that is stored.
  'PUT /applications/{id}': (body: Rights) => checkTimedRights(undefined, body, CONTEXT),
  'POST /sessions/authorize': (body: Rights) =>
    checkTimedRights('session', body, { ...CONTEXT, aheadMaxMs: HOURS_AHEAD_MAX * 3_600_000 }),
};

/** Whole bodies of every type, beside the example of the route. */
const CARD = { number: '4242424242424242', expiration_month: 1, expiration_year: 2099, cvc: '123', more: [1, null] };
const TOKENS = [
  { data: { any: ['json', 1, null, true] } },
  { type: 'token', data: 'x', privacy: { classification: 'pii', impact_level: 'low', restriction_policy: 'redact' } },
  { type: 'card', id: 'a card', data: { ...CARD, cvc: 123 }, metadata: { a: 'b', c: null }, containers: ['/'] },
  { type: 'bank', data: { routing_number: '021000021', account_number: '123' }, encryption: { cek: { alg: 'x' } } },
  { type: 'card_number', data: '4242424242424242', id: '{{ data }}' },
  { type: 'us_bank_account_number', data: '12345678901234567', mask: null },
  { type: 'us_bank_routing_number', data: '021000021', mask: '{{ data }}' },
  { type: 'social_security_number', data: '123-45-6789', search_indexes: ['{{ data }}'] },
  { type: 'employer_id_number', data: '12-3456789', expires_at: '1/31/2099', deduplicate_token: true },
];
const REACTORS = [
  { name: 'R', code: 'x', configuration: { A: 'a', b_2: null }, application: { id: CONTEXT_ID, name: 'ignored' } },
  { name: 'R', code: 'x', configuration: null, application: null },
];
const PROXIES = [
  {
    ...{ name: 'P', destination_url: 'https://a.example:8443/b', configuration: { A: 'a', b_2: null } },
    ...{ request_transform: { code: 'x', more: 1 }, response_transform: {}, require_auth: false },
    ...{ application: { id: CONTEXT_ID, name: 'ignored' }, application_id: CONTEXT_ID },
    ...{ request_reactor_id: '', response_reactor_id: CONTEXT_ID },
  },
  {
    ...{
      name: 'P',
      destination_url: 'https://a.example',
      configuration: null,
      application: null,
      application_id: null,
    },
    ...{ request_transform: null, response_transform: { code: null }, require_auth: null, request_reactor_id: null },
  },
];
const PREVIEWS = [
  { method: 'GET' },
  { method: 'PUT', path: '?a=b', headers: { 'X-A': ['1', '2'], accept: 'x', none: [] }, body: 'a=b' },
  { method: 'DELETE', path: null, headers: null, body: null },
];
const TRIALS_OF_CODE = [
  { code: 'x', configuration: { A: 'a', b_2: null }, args: { deep: [1, null] } },
  { code: 'x', configuration: null, args: null },
];
const WHOLE: Readonly<Record<string, readonly unknown[]>> = {
  'POST /tokens': TOKENS,
  'PATCH /tokens/{id}': [...TOKENS, { containers: null, metadata: null, mask: null, expires_at: null, privacy: null }],
  'POST /proxies': PROXIES,
  'PUT /proxies/{id}': PROXIES,
  'PATCH /proxies/{id}': PROXIES,
  'POST /proxies/{id}/preview': PREVIEWS,
  'POST /proxies/preview': PREVIEWS.map((each) => ({ ...each, destination_url: 'http://127.0.0.1:9400/base' })),
  'POST /reactors': REACTORS,
  'PUT /reactors/{id}': REACTORS,
  'PATCH /reactors/{id}': REACTORS,
  'POST /reactors/{id}/react': [
    { args: [1, 'x'], callback_url: 'https://example.com/back', timeout_ms: 10_000 },
    { args: null, callback_url: null, timeout_ms: null },
  ],
  'POST /reactors/{id}/react-async': [
    { args: [1, 'x'], timeout_ms: 210_000 },
    { args: null, timeout_ms: null },
  ],
  'POST /reactors/{id}/test': [{}, ...TRIALS_OF_CODE],
  'POST /reactors/test': TRIALS_OF_CODE,
  'POST /tokenize': [TOKENS, { deep: [{ a: TOKENS[2] }, 'x', 1, null, { type: 'token' }, { data: 1 }] }],
};

/** The sentences with which a reader refuses what the schema lets through, by the rule the document states in words. */
const SENTENCES: Readonly<Record<string, readonly RegExp[]>> = {
  check_digits: [/^must be a (card|routing) number with a right check digit$/],
  dates: [
    ...[/^must be a complete ISO 8601 date/, /^must lie in the future$/],
    ...[/^must be a date such as/, /^must be in the future$/, /^must be at most 24 hours ahead$/],
  ],
  rights: [
    ...[/is not a permission; GET \/permissions lists them$/, /cannot be held by a/],
    /^must name at least one permission, unless there are rules$/,
  ],
  access_rules: [
    ...[/^cannot be given to a management application$/, /^must have at most 100 conditions in all$/],
    ...[
      /^is the priority of another rule/,
      /^is required(, unless there are conditions)?$/,
      /^can be used by sessions alone/,
    ],
    ...[/^cannot stand beside a container$/, /^must be a path such as/, /^must name at least one permission$/],
    /is not about tokens; rules are for tokens alone$/,
  ],
  text: [/^must not hold NUL or unpaired surrogates$/, /^must not have a key with NUL or unpaired surrogates$/],
  entries: [/^must have at most 25 entries$/, /^must have at most 1 MiB of code and configuration$/],
  transforms: [/^is required: a transform is code$/],
  destination: [
    ...[/^must begin with https:\/\/ and a host name$/, /^must have no (user name or password|fragment)$/],
    ...[/^must have no query: /, /^must be a URL with the name of a host$/, /^must name a host, not an IP address$/],
  ],
  base_url: [
    ...[/^must be an absolute https address$/, /^must not hold credentials: /],
    /^must have neither a query nor a fragment: /,
  ],
  callback_url: [/^must be an https address of at most 2000 characters$/],
  application: [/^must be the id of a public or private Application/],
  name: [/^must not be blank and must not hold NUL or unpaired surrogates$/],
};

/** What a reader takes and the schema takes only so: entries with null, too many or with names that are not looked at. */
const MORE_TAKEN: Readonly<Record<string, (body: unknown) => unknown>> = { metadata_nulls: withoutNullEntries };

describe('the bodies of the API document', () => {
  const judgeOf = createBodyJudge(builtDocument());
  const routes = allRoutes().filter(takesBody);

  for (const route of routes) {
    const title = `${route.method} ${documentPath(route.path)}`;
    const rules = { ...OWN_FORMATS, ...route.describes?.rules };
    const read = READERS[title] ?? readerOf(route, CHECKS[title]);

    it(`${title}: the schema takes exactly what the reader takes, but for the rules it states in words`, () => {
      const judge = judgeOf(route.method, documentPath(route.path));
      const wholes = [route.example && exampleBodyOf(route.example), ...(WHOLE[title] ?? [])];
      for (const whole of wholes) assert.ok(judge(whole), JSON.stringify([whole, judge.errors]));
      const body = fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...wholes).chain(mutationsOf) },
        { weight: 1, arbitrary: wildValue },
      );
      let taken = 0;
      const isTaken = (given: unknown): boolean => judge(given) === true;
      fc.assert(
        fc.property(body, (given) => {
          const faults = read(given as never);
          if (faults.length === 0) taken += 1;
          assert.equal(disagreement(isTaken, faults, given, rules), undefined);
        }),
        { numRuns: RUNS },
      );
      assert.ok(taken >= TAKEN_MIN, `${taken} of ${RUNS} bodies were good`);
    });
  }

  it('were all read here, those of tokens, Reactors and Proxies by their own readers', () => {
    const byHand = routes.filter(({ anyBody }) => anyBody);
    const titles = byHand.map(({ method, path }) => `${method} ${documentPath(path)}`);
    assert.deepEqual(titles.sort(), Object.keys(READERS).sort());
  });

  it('need each of their rules: the schema alone would decide otherwise', () => {
    const judge = judgeOf('POST', '/tokens');
    const read = READERS['POST /tokens'] ?? assert.fail();
    const nulls = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`k${at}`, null]));
    const cases: Readonly<Record<string, unknown>> = {
      check_digits: { type: 'card_number', data: '4242424242424241' },
      dates: { data: 1, expires_at: '2099-02-30' },
      text: { data: 1, id: 'a\u0000b' },
      metadata_nulls: { data: 1, metadata: nulls },
    };
    for (const [rule, body] of Object.entries(cases)) {
      assert.notEqual(judge(body), read(body as never).length === 0, rule);
    }
  });

  it('close the gaps that the document had: notes that are text, an index too many, a card of text, null metadata', () => {
    const judge = judgeOf('POST', '/tokens');
    assert.equal(judge({ data: 1, encryption: 'note' }), false);
    assert.equal(judge({ data: 1, search_indexes: Array.from({ length: 11 }, () => '{{ data }}') }), false);
    assert.equal(judge({ type: 'card', data: 'x' }), false);
    assert.equal(judge({ data: 1, metadata: null }), true);
    const patch = judgeOf('PATCH', '/tokens/{id}');
    assert.equal(patch({ containers: null, metadata: { gone: null }, mask: null, expires_at: null }), true);
    assert.equal(patch({ data: null }), false);
  });
});

/** Undefined where schema and reader agree, or where a rule the document states explains why they do not. */
function disagreement(
  isTaken: (body: unknown) => boolean,
  faults: readonly string[],
  body: unknown,
  rules: Readonly<Record<string, string>>,
): string | undefined {
  const stated = Object.keys(rules);
  if (isTaken(body) === (faults.length === 0)) return undefined;
  if (faults.length === 0) {
    const isExplained = stated.some((rule) => MORE_TAKEN[rule] && isTaken(MORE_TAKEN[rule](body)));
    return isExplained ? undefined : 'only the reader takes it';
  }
  const patterns = stated.flatMap((rule) => SENTENCES[rule] ?? []);
  const others = faults.filter((fault) => !patterns.some((pattern) => pattern.test(fault)));
  return others.length === 0 ? undefined : `only the schema takes it: ${others.join('; ')}`;
}

function readerOf(route: RouteRecord, check?: (body: never) => ReturnType<typeof checkTimedRights>): Read {
  const reader = createInputReader(route);
  return (body) =>
    faultsOf((errors) => {
      const read = reader.body(body);
      const checked = check?.(read as never);
      if (checked && 'errors' in checked) Object.assign(errors, checked.errors);
    });
}

function faultsOf(read: (errors: FieldErrors) => unknown): string[] {
  const errors: FieldErrors = {};
  try {
    read(errors);
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    return Object.values(error.errors ?? {}).flat();
  }
  return Object.values(errors).flat();
}

/** The same with every `metadata` rid of its entries with null. */
function withoutNullEntries(value: unknown, name = ''): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((member) => withoutNullEntries(member));
  const entries = Object.entries(value).filter(([, member]) => name !== 'metadata' || member !== null);
  return Object.fromEntries(entries.map(([key, member]) => [key, withoutNullEntries(member, key)]));
}

import { mutated, nastyPiece } from './mutations.js';
import type { Case, Part } from './part.js';
import { oneOf } from './part.js';
import type { Random } from './random.js';
import { encoded, onceDecoded, request } from './request.js';
import type { Tenant, World } from './world.js';

const json = JSON.stringify;
const QUERY_MAX = 1_000;
const UNLIKELY_LENGTH = 10;
/** Such ids other cases make at the same time. */
const SHARED_ID = /^[ab]{1,4}$/;

/** Text inside ids, in every place that takes one. */
export const ids: Part = {
  name: 'ids',
  about: 'nasty ids in paths, bodies, filters, queries, expressions and conditions of sessions',
  cases: { short: 160, long: 22_000 },
  width: 24,
  run: oneOf(
    makeAndFind,
    makeAndFind,
    makeAndFind,
    strangePaths,
    strangePaths,
    strangeFilters,
    strangeInTexts,
    authorize,
  ),
};

function tenantOf({ random, world }: Case): Tenant {
  return random.pick([world.main, world.side]);
}

function nastyId(random: Random): string {
  const base = `id-${random.text(12, '0123456789abcdef')}`;
  const kinds: readonly (() => string)[] = [
    () => mutated(random, base),
    () => base + nastyPiece(random),
    () => nastyPiece(random) + base,
    () => `${base}${nastyPiece(random)}${nastyPiece(random)}${base}`,
    () =>
      `${random.pick(['token:', 'token: ', 'search', '__proto__', 'data.', '"', "'", '-', '--', '{', 'x,'])}${base}`,
    () => `${base}${random.pick([' ', '\u00a0', '\ufeff', '\u2028', '\t', '.', ':', '-', '"', "'"])}`,
    () => base.padEnd(395 + random.below(10), '\u{1f511}i'),
    () => random.text(random.below(5), 'ab'),
    () => base.normalize('NFD').replace('a', 'a\u0301').replace('e', '\u00e9'),
  ];
  return random.pick(kinds)();
}

/** What takes an id must find by it wherever an id is asked for, and nothing else. */
async function makeAndFind(one: Case): Promise<void> {
  const { random } = one;
  const tenant = tenantOf(one);
  const { privateKey: key } = tenant;
  const id = nastyId(random);
  const value = `of ${id}`;
  const isComputed = random.oneIn(3);
  const given = isComputed ? { id: '{{ data.id }}', data: { id, value } } : { id, data: { id, value } };
  const made = await one.call(key, 'POST', '/tokens', json({ ...given, deduplicate_token: false }));
  if (made.status !== 201) return;
  const got = JSON.parse(made.body).id;
  // A mutation may have made an expression of it.
  if (!isComputed && id.includes('{{')) return;
  // A short one may be taken by another case; where an expression gave it, the default comes in its place.
  if (isComputed && got !== id && id.length < UNLIKELY_LENGTH) return;
  one.check(got === id, `the id became ${json(got)}`);
  const location = made.headers.get('location') ?? '';
  one.check(decodeURIComponent(location).endsWith(`/tokens/${id}`), `Location leads to ${json(location)}`);
  await findEverywhere(one, tenant, id, value);
  await takeAndDelete(one, tenant, id);
}

/** By its path, in a list, a search, two expressions and the log. */
async function findEverywhere(one: Case, tenant: Tenant, id: string, value: string): Promise<void> {
  const { privateKey: key, manageKey } = tenant;
  const quoted = `id:"${id.replaceAll(/["\\]/g, (mark) => `\\${mark}`)}"`;
  const [read, listed, found, opened, whole, log] = await one.sendAll([
    request(key, 'GET', pathOf(id)),
    request(key, 'GET', `/v2/tokens?id=${encodeURIComponent(id)}`),
    request(key, 'POST', '/v2/tokens/search', json({ query: quoted })),
    request(key, 'POST', '/detokenize', json({ a: `{{ ${id} | json: "$.value" }}` })),
    request(key, 'POST', '/detokenize', json({ a: `{{ token: ${id} | json: "$.id" }}` })),
    request(manageKey, 'GET', `/logs?size=5&entity_id=${encodeURIComponent(id)}`),
  ]);
  one.check(read?.status === 200 && JSON.parse(read.body).id === id, `by its path it answers ${read?.status}`);
  for (const [how, answer] of [
    ['list', listed],
    ['search', found],
  ] as const) {
    if (how === 'search' && [...quoted].length > QUERY_MAX) continue;
    const rows: { id: string }[] = answer?.status === 200 ? JSON.parse(answer.body).data : [];
    one.check(
      rows.length === 1 && rows[0]?.id === id,
      `a ${how} by its id gives ${answer?.status}, ${rows.length} rows`,
    );
  }
  // In an expression text around the id counts too.
  if ([...id].length < 350) {
    one.check(
      opened?.status === 200 && JSON.parse(opened.body).a === value,
      `{{ ${json(id)} }} answers ${opened?.status}`,
    );
    one.check(
      whole?.status === 200 && JSON.parse(whole.body).a === id,
      `{{ token: ${json(id)} }} answers ${whole?.status}`,
    );
  }
  const entries: { entity_id: string }[] = log?.status === 200 ? JSON.parse(log.body).data : [];
  one.check(entries.length > 0 && entries.every((entry) => entry.entity_id === id), `its log answers ${log?.status}`);
}

async function takeAndDelete(one: Case, { privateKey: key }: Tenant, id: string): Promise<void> {
  const [taken, gone, after] = await one.sendAll([
    request(key, 'POST', '/tokens', json({ id, data: 1, deduplicate_token: false })),
    request(key, 'DELETE', pathOf(id)),
    request(key, 'GET', pathOf(id)),
  ]);
  // One after the other, though they were sent at once. Another case may make a short one again meanwhile.
  one.check(taken?.status === 409, `the taken id answers ${taken?.status}`);
  one.check(gone?.status === 204, `deleting it answers ${gone?.status}`);
  one.check(after?.status === 404 || SHARED_ID.test(id), `afterwards it answers ${after?.status}`);
}

function pathOf(id: string): string {
  return `/tokens/${encodeURIComponent(id)}`;
}

/** An application that may be changed. */
function scratchOf({ main }: World): string {
  return main.scratch[0]?.applicationId ?? '';
}

/** Bytes that are no UTF-8, encoded twice, too long, or of another kind. */
function strangeSegment(one: Case): string {
  const { random, world } = one;
  const real = random.pick([world.main.tokenId, scratchOf(world), world.victim.tokenId]);
  const kinds: readonly (() => string)[] = [
    () => encoded(mutated(random, real)),
    () => encoded(nastyId(random)),
    () => encodeURIComponent(encoded(mutated(random, real))),
    () =>
      real +
      random.pick(['%00', '%c0%80', '%ff', '%ed%a0%80', '%f4%90%80%80', '%2f', '%2e%2e%2f', '%', '%u0000', '%0d%0a']),
    () => random.pick(['%00', '%20', '%09', '%e2%80%ae']) + real,
    () => real.toUpperCase(),
    () => real.replaceAll('-', ''),
    () => `{${real}}`,
    () => real.slice(0, random.below(36)),
    () => `${real}${'x'.repeat(random.below(3_000))}`,
    () =>
      random.pick([
        '..',
        '.',
        '...;',
        '*',
        '-1',
        '0',
        'NULL',
        'undefined',
        '[object%20Object]',
        '__proto__',
        'search',
        'key',
      ]),
  ];
  return random.pick(kinds)();
}

async function strangePaths(one: Case): Promise<void> {
  const { random, world } = one;
  const { main, victim } = world;
  const known = new Set([main.tokenId, '', '.', '..', 'search', 'key']);
  const isOwn = (id: string): boolean => !known.has(id) && !SHARED_ID.test(id);
  const segments = Array.from({ length: 6 }, () => strangeSegment(one)).filter((each) => isOwn(onceDecoded(each)));
  const made = segments.map((segment) =>
    random.pick([
      () => request(main.privateKey, 'GET', `/tokens/${segment}`),
      () => request(main.privateKey, 'DELETE', `/tokens/${segment}`),
      () => request(main.privateKey, 'PATCH', `/tokens/${segment}`, json({ metadata: { a: 'b' } })),
      () => request(main.manageKey, 'GET', `/applications/${segment}`),
      () =>
        request(main.manageKey, 'PUT', `/applications/${segment}`, json({ name: 'x', permissions: ['token:read'] })),
      () => request(main.manageKey, 'GET', `/applications/${main.applicationId}/keys/${segment}`),
      () => request(main.manageKey, 'DELETE', `/applications/${main.applicationId}/keys/${segment}`),
      () => request(victim.manageKey, 'GET', `/application-templates/${segment}`),
    ])(),
  );
  const answers = await one.sendAll(made);
  answers.forEach(({ status }, at) => {
    // Ids of applications are UUIDs, in any case.
    const isReal = onceDecoded(segments[at] ?? '').toLowerCase() === scratchOf(world);
    one.check(isReal || [400, 404, 405].includes(status), `${made[at]?.method} ${made[at]?.target} answers ${status}`);
  });
}

async function strangeFilters(one: Case): Promise<void> {
  const { random, world } = one;
  const { main } = world;
  // An empty value counts as left out.
  const nasty = (): string => encoded(nastyId(random) || '-');
  const several = (name: string): string =>
    Array.from(
      { length: random.oneIn(20) ? 99 + random.below(4) : 1 + random.below(4) },
      () => `${name}=${nasty()}`,
    ).join('&');
  const sent = [
    request(main.privateKey, 'GET', `/tokens?${several('id')}`),
    request(main.privateKey, 'GET', `/v2/tokens?${several('id')}&type=${nasty()}`),
    request(main.manageKey, 'GET', `/logs?entity_id=${nasty()}`),
    request(main.manageKey, 'GET', `/logs?entity_type=${nasty().slice(0, 60)}&entity_id=${nasty()}`),
    request(main.manageKey, 'GET', `/applications?${several('id')}`),
  ];
  const answers = await one.sendAll(sent);
  for (const [at, { status, body }] of answers.entries()) {
    one.check([200, 400, 431].includes(status), `a filter answers ${status}`);
    if (status !== 200) continue;
    const asked = new Set(new URLSearchParams(sent[at]?.target.replace(/^[^?]*/, '')).values());
    const rows: { id?: string; entity_id?: string }[] = JSON.parse(body).data;
    const areAsked = rows.every((row) => asked.has(row.id ?? row.entity_id ?? ''));
    one.check(areAsked, `${sent[at]?.target} finds what it does not name`);
  }
}

/** Ids inside expressions and queries, where other signs mean something too. */
async function strangeInTexts(one: Case): Promise<void> {
  const { random, world } = one;
  const { privateKey } = world.main;
  const forms: readonly ((id: string) => string)[] = [
    (id) => `{{ ${id} }}`,
    (id) => `{{${id}}}`,
    (id) => `{{- ${id} -}}`,
    (id) => `{{ token: ${id} }}`,
    (id) => `{{ token:${id} | json: "$.id" }}`,
    (id) => `a {{ ${id} | upcase }} b {{ ${id} }}`,
    (id) => `{% if true %}{{ ${id} }}{% endif %}`,
  ];
  const asked = Array.from({ length: 5 }, () => ({ a: random.pick(forms)(nastyId(random)) }));
  const answers = await one.sendAll([
    ...asked.map((body) => request(privateKey, 'POST', '/detokenize', json(body))),
    request(privateKey, 'POST', '/tokens/search', json({ query: `id:${nastyId(random)}` })),
    request(privateKey, 'POST', '/v2/tokens/search', json({ query: `NOT id:"${nastyId(random)}"`, size: 1 })),
  ]);
  for (const { status } of answers) one.check(status === 200 || status === 400, `it answers ${status}`);
}

/** A session whose rules name ids and containers that are not: it sees what they cover, which is nothing, or all that begins so. */
async function authorize(one: Case): Promise<void> {
  const { random, world } = one;
  const { main } = world;
  const session = await one.call(main.publicKey, 'POST', '/sessions');
  one.check(session.status === 201, `a session answers ${session.status}`);
  const { nonce, session_key } = JSON.parse(session.body);
  const condition = {
    attribute: random.pick(['id', 'container']),
    operator: random.pick(['equals', 'starts_with']),
    value: random.oneIn(3) ? mutated(random, random.pick([main.tokenId, '/general/high/'])) : nastyId(random),
  };
  const rules = [{ priority: 1, transform: 'reveal', permissions: ['token:read'], conditions: [condition] }];
  const granted = await one.call(main.privateKey, 'POST', '/sessions/authorize', json({ nonce, rules }));
  one.check(granted.status === 200 || granted.status === 400, `authorizing answers ${granted.status}`);
  if (granted.status !== 200) return;
  const actual = condition.attribute === 'id' ? main.tokenId : '/general/high/';
  const isPrefix = actual.startsWith(condition.value.toLowerCase()) || actual.startsWith(condition.value);
  const answers = await one.sendAll([
    request(session_key, 'GET', `/tokens/${main.tokenId}`),
    request(session_key, 'GET', '/v2/tokens?size=3'),
    request(session_key, 'POST', '/detokenize', json({ a: `{{ ${main.tokenId} }}` })),
  ]);
  if (isPrefix) return;
  const [read, listed, opened] = answers;
  one.check(read?.status === 403, `a rule on another id lets read: ${read?.status}`);
  one.check(opened?.status === 403, `a rule on another id lets detokenize: ${opened?.status}`);
  const rows: { id: string; containers: string[] }[] = listed?.status === 200 ? JSON.parse(listed.body).data : [];
  const isCovered = rows.every(({ id, containers }) =>
    condition.attribute === 'id'
      ? id.startsWith(condition.value)
      : containers.some((each) => each.startsWith(condition.value)),
  );
  one.check(isCovered, 'a rule on another id lists tokens');
}

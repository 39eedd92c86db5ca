import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import type { Answer } from './answer.js';
import { nastyPiece } from './mutations.js';
import type { Case, Part } from './part.js';
import { oneOf } from './part.js';
import type { Random } from './random.js';
import { encoded } from './request.js';

const json = JSON.stringify;
const BODY_BYTES_MAX = 5_242_880;
const MANY_VALUES = 200_000;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
const WITHOUT_BODY = new Set(['GET', 'DELETE', 'HEAD']);

/** Spellings of this machine, of its neighbours and of nothing, each as a reader of URLs may take it for another. */
const HOSTS = [
  ...['127.0.0.1', '127.1', '0x7f.1', '017700000001', '2130706433', '0', '127.0.0.1.', '127.000.000.001'],
  ...[
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:0:0:1]',
    '[64:ff9b::7f00:1]',
    '[fe80::1%25lo]',
  ],
  ...['169.254.169.254', '0xa9fea9fe', '10.0.0.1', '192.168.0.1', '100.64.0.1', '255.255.255.255', '224.0.0.1'],
  ...['localhost', 'LOCALHOST.', '%31%32%37.0.0.1', '\u00e2\u0091\u00a0.0.0.1', 'a.invalid', 'a..invalid', '-', ''],
];
const AROUND: readonly ((host: string) => string)[] = [
  (host) => host,
  (host) => `user:pass@${host}`,
  (host) => `example.com@${host}`,
  (host) => `${host}#@example.com`,
  (host) => `${host}\\@example.com`,
  (host) => `${host}?.example.com`,
  (host) => `example.com\t${host}`,
  (host) => `${host}/../..`,
  (host) => `${host}/v1//`,
];
const SCHEMES = [
  'https://',
  'https://',
  'https://',
  'http://',
  'HTTPS:',
  'https:\\\\',
  '//',
  'file://',
  'gopher://',
  '',
];
const PATHS = [
  ...['', '/', '/x', '//evil.invalid', '/@evil.invalid', '/..', '/%2e%2e/x', '/.%2E/', '/a/../../b', '/\\evil.invalid'],
  ...['/%5c%2e%2e', '/%00', '/%', '/%zz', '/a%2Fb', '/https://evil.invalid', '/?svc-proxy-key=', '/{{ x }}', ';x'],
];
const NAMES = [
  'X-A',
  'Host',
  'Connection',
  'Transfer-Encoding',
  'Content-Length',
  'Expect',
  'Cookie',
  'Upgrade',
  'X.A',
  '_',
];

/** Calls through Proxies and to them: from here nothing can be reached, so whatever is sent is refused. */
export const proxies: Part = {
  name: 'proxies',
  about: 'hostile addresses, headers, expressions and bodies through Proxies, and Proxies of others on every call',
  cases: { short: 60, long: 4_000 },
  // Of the largest bodies few at a time: what the allocator keeps of them counts as memory that grew.
  width: 4,
  run: oneOf(
    ...[hostileAddress, hostileAddress, hostileAddress, hostileHeaders, hostileHeaders, hostileExpressions],
    ...[hostileExpressions, storedDestination, storedDestination, foreignProxy, foreignProxy, largeBody],
  ),
};

/** A listener on this machine that nobody may come to while the work lasts. */
async function whileNobodyCalls(one: Case, work: (port: number) => Promise<void>): Promise<void> {
  let calls = 0;
  const server = createServer((socket) => {
    calls += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work((server.address() as AddressInfo).port); // It listens.
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
  one.check(calls === 0, 'the destination was reached');
}

function through(
  one: Case,
  headers: readonly (readonly [string, string])[],
  { path = '/x', body }: { readonly path?: string; readonly body?: string } = {},
): Promise<Answer> {
  const method = one.random.pick(METHODS.filter((name) => body === undefined || !WITHOUT_BODY.has(name)));
  return one.send({ method, target: `/proxy${path}`, headers, body });
}

function refused(one: Case, { status }: Answer, statuses: readonly number[], what: string): void {
  one.check(statuses.includes(status), `${what} answered ${status}`);
}

const keyOf = ({ world }: Case): readonly [string, string] => ['SVC-API-KEY', world.main.privateKey];
const named = (key: string): readonly [string, string] => ['SVC-PROXY-KEY', key];

async function hostileAddress(one: Case): Promise<void> {
  const { random } = one;
  await whileNobodyCalls(one, async (port) => {
    const host = random.pick(HOSTS);
    const withPort = random.pick([
      host,
      `${host}:${port}`,
      `${host}:443`,
      `${host}:`,
      `${host}:65536`,
      `${host}:+${port}`,
    ]);
    const url = random.pick(SCHEMES) + random.pick(AROUND)(withPort);
    const path = encodedSpaces(random.pick(PATHS));
    const answer = await through(one, [keyOf(one), ['SVC-PROXY-URL', url]], { path });
    refused(one, answer, [400, 404, 422], `${url} and ${path}`);
  });
}

/** A request line ends at a space. */
function encodedSpaces(path: string): string {
  return path.replaceAll(' ', '%20');
}

async function hostileHeaders(one: Case): Promise<void> {
  const { random, world } = one;
  await whileNobodyCalls(one, async (port) => {
    const nasty = (): string => headerText(nastyPiece(random));
    const more: (readonly [string, string])[] = random.pick([
      () => [['SVC-PROXY-CONNECTION', nasty()] as const],
      () => [['SVC-PROXY-KEEP-ALIVE', nasty()] as const],
      () => [['SVC-PROXY-KEY', nasty()] as const],
      () => [['BT-PROXY-URL', `https://127.0.0.1:${port}`] as const, named(nasty())],
      () => [[random.pick(NAMES.slice(5)), nasty()] as const],
      () => [['Sec-Fetch-Dest', random.pick(['document', 'script', 'serviceworker', nasty()])] as const],
      () => Array.from({ length: 50 }, (_, at) => [`X-${at}`, nasty()] as const),
      () => [['Content-Type', nasty()] as const, ['Content-Encoding', nasty()] as const],
    ])();
    const where = random.pick([
      ['SVC-PROXY-URL', `https://127.0.0.1:${port}`] as const,
      named(random.pick(world.main.proxies).key),
    ]);
    const answer = await through(one, [keyOf(one), where, ...more]);
    refused(one, answer, [400, 403, 404, 415, 422, 431], `headers ${json(more)}`);
  });
}

/** Without what no header can hold: the parser refuses it before anybody looks at the path. part-raw has those. */
function headerText(text: string): string {
  return Buffer.from(text.replaceAll(/\p{Cc}/gu, '')).toString('latin1');
}

async function hostileExpressions(one: Case): Promise<void> {
  const { random, world } = one;
  const expression = hostileExpression(random, random.pick([world.main, world.victim]).tokenId);
  const [path, type, body] = random.pick([
    ['/x', 'application/json', json({ a: expression, [expression]: [expression] })],
    ['/x', 'application/json', `{"a":${expression}}`],
    ['/x', 'application/x-www-form-urlencoded', `a=${expression}&b=${encoded(expression)}&%`],
    ['/x', 'text/plain', expression.repeat(random.pick([1, 50, 200]))],
    ['/x', 'application/xml; charset=utf-16', expression],
    [`/x?a=${encoded(expression)}&${encoded(expression)}`, 'application/octet-stream', expression],
  ] as const);
  const { key } = random.pick(world.main.proxies);
  const headers = [named(key), ['Content-Type', type], ['X-A', headerText(expression)]] as const;
  const answer = await through(one, random.oneIn(3) ? headers : [keyOf(one), ...headers], { path, body });
  refused(one, answer, [400, 401, 403, 413, 422, 431], `an expression in ${type}`);
}

function hostileExpression(random: Random, tokenId: string): string {
  return random.pick([
    () => `{{ ${tokenId} }}`,
    () => `{{ token: ${tokenId} }}`,
    () => `{{ ${nastyPiece(random)} }}`,
    () => `{{ ${tokenId} | ${nastyPiece(random)} }}`,
    () => `{{ ${tokenId} | json: "$..*" }}`,
    () => '{{'.repeat(500),
    () => `{{ ${tokenId} | append: "\\u000d\\u000aX-B: 1" }}`,
    () => `{%7B ${tokenId} }%7D`,
    () => `\\u007b\\u007b ${tokenId} }}`,
  ])();
}

/** What is stored names a host; what cannot is refused when it is stored. */
async function storedDestination(one: Case): Promise<void> {
  const { random, world } = one;
  const { manageKey, privateKey } = world.side;
  const url = random.pick(SCHEMES) + random.pick(AROUND)(random.pick(HOSTS));
  const made = await one.call(manageKey, 'POST', '/proxies', json({ name: 'Stored', destination_url: url }));
  if (made.status !== 201) return refused(one, made, [400], `${url} as a destination`);
  const { id, key, destination_url: stored } = JSON.parse(made.body);
  one.check(stored === url, 'what is read is not what was stored');
  const answer = await through(one, [['SVC-API-KEY', privateKey], named(key)], { path: '/x' });
  refused(one, answer, [400, 422], `a call to ${url}`);
  const gone = await one.call(manageKey, 'DELETE', `/proxies/${id}`);
  one.check(gone.status === 204, `deleting answered ${gone.status}`);
}

/** A Proxy of another tenant is not there, on any call. */
async function foreignProxy(one: Case): Promise<void> {
  const { random, world } = one;
  const [closed, open] = world.victim.proxies;
  if (!closed || !open) throw new Error('assertion failed: there are Proxies');
  const at = `/proxies/${random.pick(world.victim.proxies).id}`;
  const [method, target] = random.pick([
    ...(['GET', 'PUT', 'PATCH', 'DELETE'] as const).map((verb) => [verb, at] as const),
    ...['versions', 'metrics'].map((name) => ['GET', `${at}/${name}`] as const),
    ...['regenerate', 'versions/1/restore'].map((name) => ['POST', `${at}/${name}`] as const),
  ]);
  const body = json({ name: 'Mine', destination_url: 'https://mine.invalid' });
  const hasBody = method === 'PUT' || method === 'PATCH';
  const answer = await one.call(world.main.manageKey, method, target, hasBody ? body : undefined);
  refused(one, answer, [404], `${method} ${target}`);
  refused(
    one,
    await through(one, [keyOf(one), named(random.pick([closed, open]).key)]),
    [404],
    'a key of another tenant',
  );
  refused(one, await through(one, [named(closed.key)]), [401], 'a Proxy that wants a key');
  const own = { name: 'Mine', destination_url: 'https://mine.invalid', application_id: world.victim.applicationId };
  const taken = await one.call(world.main.manageKey, 'POST', '/proxies', json(own));
  refused(one, taken, [400], 'an Application of another tenant');
}

/** Around the limit of a body: refused for its destination, or 413; 500 where code gives back more than it may. */
async function largeBody(one: Case): Promise<void> {
  const { random, world } = one;
  const bytes = BODY_BYTES_MAX + random.pick([-1_000_000, -100, 0, 1, 1_000_000]);
  const [type, body] = random.pick([
    () => ['text/plain', 'x'.repeat(bytes)] as const,
    () => ['application/octet-stream', 'x'.repeat(bytes)] as const,
    () => ['application/json', `["{{ ${world.main.tokenId} }}"${',1'.repeat(MANY_VALUES)}]`] as const,
    () => ['application/json', `${'['.repeat(70)}"{{ ${world.main.tokenId} }}"${']'.repeat(70)}`] as const,
  ])();
  const headers = [keyOf(one), named(random.pick(world.main.proxies).key), ['Content-Type', type]] as const;
  refused(one, await through(one, headers, { body }), [400, 413, 422, 500, 503], `${body.length} bytes of ${type}`);
}

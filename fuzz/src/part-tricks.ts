import type { Case, Part } from './part.js';
import type { Random } from './random.js';
import { onceDecoded } from './request.js';
import { targetFor } from './samples.js';

/** What anybody may read. */
const PUBLIC = /^\/((healthz|readyz|openapi\.json|docs(\/[^?]*)?)\/?)?(\?|$)/;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH', 'PURGE'];

/** Other spellings of a path: some mean the same, most mean nothing, none may lead past the check of a key. */
const SPELLINGS: readonly ((path: string, random: Random) => string)[] = [
  (path) => `/${path}`,
  (path) => `${path}/`,
  (path) => `${path}//`,
  (path) => path.replaceAll('/', '//'),
  (path) => `/.${path}`,
  (path) => `/x/..${path}`,
  (path) => `/healthz/..${path}`,
  (path) => `/healthz/%2e%2e${path}`,
  (path) => `/healthz%2f..${path}`,
  (path) => `/healthz;${path}`,
  (path) => `${path}/.`,
  (path) => `${path}/..`,
  (path) => `${path}%2f`,
  (path) => path.replaceAll('/', '%2f').replace('%2f', '/'),
  (path) => path.replaceAll('/', '\\').replace('\\', '/'),
  (path) => path.replaceAll('/', '%5c').replace('%5c', '/'),
  (path) => path.toUpperCase(),
  (path) => encoded(path, 0x61),
  (path) => `${path}%00`,
  (path) => `${path}%00.json`,
  (path) => `${path}%0d%0aX:%20y`,
  (path) => `${path}%c0%af`,
  (path) => `${path}%e0%80%af`,
  (path) => `${path}%f0%80%80%af`,
  (path) => `${path}%ed%a0%80`,
  (path) => `${path}%252e%252e%252f`,
  (path) => `${path}%`,
  (path) => `${path}%zz`,
  (path) => `${path};jsessionid=1`,
  (path) => `${path};/healthz`,
  (path) => `${path}.json`,
  (path) => `${path}?`,
  (path) => `${path}??a=b`,
  (path) => `${path}#fragment`,
  (path) => `${path}?/healthz`,
  (path) => `${path}?a[]=1&a[b]=2&__proto__[x]=1&constructor=1`,
  (path) => `${path}?size=1&size=2&page=1&page=1`,
  (path) => `${path}?size=%31&SIZE=2&size%00=3`,
  (path) => `${path}?metadata.__proto__=1&metadata[k]=2&metadata={}`,
  (path) => `${path}?${'a&'.repeat(2_000)}`,
  (path) => `${path}/${'a/'.repeat(3_000)}`,
  (path) => `${path}/${'%61'.repeat(3_000)}`,
  (path) => `${path}/\u00ad`.replace('\u00ad', '%c2%ad'),
  (path, random) => `${path}/${random.text(random.below(60), 'abc%2e/.;?&=0')}`,
  (_path, random) => random.text(1 + random.below(80), '/.%2eaf0;?&=tokens').replace(/^(?!\/)/, '/'),
];

function encoded(path: string, byte: number): string {
  return path.replaceAll(String.fromCharCode(byte), `%${byte.toString(16)}`);
}

type Header = readonly [string, string];
/** Headers that try to say who asks, or what is asked, some other way. */
const HEADERS: readonly ((key: string, random: Random) => Header[])[] = [
  (key) => [['Authorization', `Bearer ${key}`]],
  (key) => [['Authorization', `Basic ${Buffer.from(key).toString('base64')}`]],
  (key) => [['Cookie', `SVC-API-KEY=${key}; __Host-strongroom_session=${key}`]],
  (key) => [['X-SVC-API-KEY', key]],
  (key) => [['SVC_API_KEY', key]],
  (key) => [['SVC-API-KEY', `${key},${key}`]],
  (key) => [['SVC-API-KEY', `"${key}"`]],
  (key) => [['SVC-API-KEY', `Bearer ${key}`]],
  (key) => [
    ['SVC-API-KEY', key],
    ['svc-api-key', key],
  ],
  () => [
    ['X-HTTP-Method-Override', 'DELETE'],
    ['X-Method-Override', 'DELETE'],
    ['_method', 'DELETE'],
  ],
  () => [
    ['X-Original-URL', '/healthz'],
    ['X-Rewrite-URL', '/healthz'],
    ['X-Forwarded-Prefix', '/healthz'],
  ],
  () => [
    ['X-Forwarded-For', '127.0.0.1, ::1, 10.0.0.1'],
    ['Forwarded', 'for=127.0.0.1'],
    ['X-Real-IP', '127.0.0.1'],
  ],
  (_key, random) => [['X-Forwarded-For', random.text(random.below(3_000), '0123456789abcdef.:, ]["')]],
  (_key, random) => [['SVC-TRACE-ID', random.text(random.below(300), 'abc"\\{}<>&;=,\t ')]],
  (key) => [['SVC-TRACE-ID', key]],
  (_key, random) => [['SVC-IDEMPOTENCY-KEY', random.text(random.below(300), 'abc"\\ \t')]],
  () => [
    ['SVC-IDEMPOTENCY-KEY', 'a'],
    ['BT-IDEMPOTENCY-KEY', 'b'],
  ],
  () => [['SVC-TENANT-ID', '00000000-0000-0000-0000-000000000000']],
  () => [
    ['Content-Type', 'application/json'],
    ['Content-Type', 'text/plain'],
  ],
  () => [
    ['Accept', 'text/html'],
    ['Accept-Encoding', 'gzip;q=1.0, *;q=0'],
    ['Range', 'bytes=0-0'],
  ],
  () => [
    ['Origin', 'null'],
    ['Access-Control-Request-Method', 'DELETE'],
    ['Access-Control-Request-Headers', 'x'.repeat(3_000)],
  ],
  () => [
    ['If-Match', '*'],
    ['If-None-Match', '*'],
    ['If-Modified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ],
  () => [
    ['TE', 'trailers'],
    ['Trailer', 'SVC-API-KEY'],
    ['Connection', 'SVC-API-KEY'],
  ],
  () => [
    ['__proto__', 'x'],
    ['constructor', 'y'],
    ['toString', 'z'],
  ],
  () => Array.from({ length: 200 }, (_, at): Header => [`X-${at}`, 'v']),
];

/** Without a working key in its own header, only what is public answers with success. */
export const tricks: Part = {
  name: 'tricks',
  about: 'other spellings of paths and headers, none of which leads past the check of a key',
  cases: { short: 900, long: 24_000 },
  width: 48,
  async run(one) {
    const { random, world } = one;
    const operation = random.pick(world.document.operations);
    const path = targetFor(operation, random, world);
    const target = random.oneIn(4) ? path : random.pick(SPELLINGS)(path, random);
    const method = random.oneIn(3) ? random.pick(METHODS) : operation.method;
    const headers = random.oneIn(2) ? random.pick(HEADERS)(world.main.manageKey, random) : [];
    if (random.oneIn(4)) return withKey(one, method, target, headers);
    const answer = await one.send({ method, target, headers });
    const isPublic = PUBLIC.test(onceDecoded(target)) || method === 'OPTIONS';
    one.check(answer.status >= 400 || isPublic, `answered ${answer.status} without a key of its own`);
  },
};

/** With a key of a tenant that others only need to be there, whatever the trick comes to: the rules for every answer hold. */
async function withKey(one: Case, method: string, target: string, headers: readonly Header[]): Promise<void> {
  const isEnd = method === 'DELETE' && /tenants/i.test(onceDecoded(target));
  const key = isEnd ? one.world.side.privateKey : one.world.side.manageKey;
  const name = one.random.pick(['SVC-API-KEY', 'svc-api-key', 'BT-API-KEY', 'Svc-Api-Key']);
  await one.send({ method, target, headers: [[name, key], ...headers] });
}

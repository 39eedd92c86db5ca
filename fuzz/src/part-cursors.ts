import type { Answer } from './answer.js';
import type { Case, Part } from './part.js';
import type { Random } from './random.js';
import type { Sent } from './request.js';
import { encoded, request } from './request.js';
import type { Tenant } from './world.js';

const json = JSON.stringify;
const FORGED = 12;
const MAC_BYTES = 16;
const CODES = ['invalid_cursor', 'validation_failed', 'malformed_request'];

/** Text inside cursors: made out of real ones of the same list, so that nearly all of it is right. */
export const cursors: Part = {
  name: 'cursors',
  about: 'real cursors with flipped bits, cut, recombined, written otherwise, of other tenants, lists and filters',
  cases: { short: 60, long: 7_000 },
  width: 16,
  async run(one) {
    const { random, world } = one;
    const list = random.pick(LISTS);
    const filter = random.pick(list.filters);
    const ask = (cursor: string | undefined, by = filter, tenant: Tenant = world.shelf, size = 2): Sent =>
      list.ask(tenant, by, size, cursor);
    const first = cursorIn(one, await one.send(ask(undefined)));
    const [next, wider] = await one.sendAll([ask(first), ask(first, filter, world.shelf, 3 + random.below(5))]);
    if (next === undefined || wider === undefined) throw new Error('assertion failed: both were answered');
    const second = cursorIn(one, next);
    one.check(wider.status === 200, `a cursor under another size answers ${wider.status}`);
    const [few, more] = [rowsOf(next), rowsOf(wider)];
    const isSame = json(few) === json(more.slice(0, few.length));
    // The log grows meanwhile, also by entries of requests that began before and committed after.
    one.check(isSame || list.name === 'logs', 'a cursor leads to other rows under another size');
    const elsewhere: readonly Sent[] = [
      ask(first, random.pick(list.filters.filter((other) => other !== filter))),
      ask(first, filter, random.pick([world.main, world.side, world.victim])),
      ask(world.main.cursors[list.name], random.pick(list.filters)),
      ask(world.victim.cursors[list.name], random.pick(list.filters)),
      random.pick(LISTS.filter(({ name }) => name !== list.name)).ask(world.shelf, '', 2, first),
    ];
    const forged = Array.from({ length: FORGED }, () => forgedFrom(random, first, second))
      .filter((cursor) => cursor !== first && cursor !== second && cursor !== '')
      .map((cursor) => ask(cursor));
    const sent = [...elsewhere, ...forged];
    const answers = await one.sendAll(sent);
    for (const [at, { status, body }] of answers.entries()) {
      const { code } = JSON.parse(body);
      const isRefused = status === 400 && CODES.includes(code);
      one.check(
        isRefused,
        `a cursor that is none answers ${status} ${code}: ${sent[at]?.target} ${sent[at]?.body ?? ''}`,
      );
    }
  },
};

interface List {
  readonly name: 'logs' | 'tokens' | 'search';
  /** Each gives at least three pages of two on the shelf. */
  readonly filters: readonly string[];
  readonly ask: (tenant: Tenant, filter: string, size: number, cursor: string | undefined) => Sent;
}

const LISTS: readonly List[] = [
  {
    name: 'logs',
    filters: [
      '',
      'entity_type=token',
      'start_date=2020-01-01',
      'end_date=9999-01-01',
      'entity_type=token&start_date=2020-01-01',
    ],
    ask: ({ manageKey }, filter, size, cursor) =>
      request(manageKey, 'GET', `/logs?size=${size}${filter && `&${filter}`}${start(cursor)}`),
  },
  {
    name: 'tokens',
    filters: ['', 'type=token', 'type=card_number', 'container=/shelf/', 'type=token&type=card_number'],
    ask: ({ privateKey }, filter, size, cursor) =>
      request(privateKey, 'GET', `/v2/tokens?size=${size}${filter && `&${filter}`}${start(cursor)}`),
  },
  {
    name: 'search',
    filters: ['', 'type:token', 'NOT type:token', 'container:/shelf/', 'type:token OR type:card_number'],
    ask: ({ privateKey }, query, size, cursor) =>
      request(privateKey, 'POST', '/v2/tokens/search', json({ query, size, start: cursor })),
  },
];

function start(cursor: string | undefined): string {
  return cursor === undefined ? '' : `&start=${encoded(cursor)}`;
}

function cursorIn(one: Case, { status, body }: Answer): string {
  one.check(status === 200, `a page answers ${status}`);
  const { after } = JSON.parse(body).pagination;
  one.check(typeof after === 'string', 'there is no next page');
  return String(after);
}

function rowsOf({ body }: Answer): unknown[] {
  return JSON.parse(body).data.map(({ id, ...rest }: { id?: string }) => id ?? rest);
}

function forgedFrom(random: Random, first: string, second: string): string {
  const [a, b] = [first, second].map((each) => Buffer.from(each, 'base64url'));
  if (a === undefined || b === undefined) throw new Error('assertion failed: there are two cursors');
  const cut = a.length - MAC_BYTES;
  const at = random.below(a.length);
  const joined = (...parts: readonly Uint8Array[]): string => Buffer.concat(parts).toString('base64url');
  const kinds: readonly (() => string)[] = [
    () => flipped(a, at, 1 << random.below(8)).toString('base64url'),
    () => flipped(a, random.below(cut), 1 << random.below(8)).toString('base64url'),
    () => joined(a.subarray(0, cut), b.subarray(cut)),
    () => joined(b.subarray(0, cut), a.subarray(cut)),
    () => joined(a.subarray(0, at), b.subarray(at)),
    () => joined(a.subarray(0, at)),
    () => joined(a, random.bytes(1 + random.below(40))),
    () => joined(a, b),
    () => joined(a.subarray(0, cut)),
    () => joined(a.subarray(0, cut), Buffer.alloc(MAC_BYTES)),
    () => joined(a.subarray(0, cut), a.subarray(cut), a.subarray(cut)),
    () => joined(random.bytes(a.length)),
    () => joined(Buffer.from([2]), a.subarray(1)),
    () => joined(a.subarray(0, 7), Buffer.alloc(16, 0xff), a.subarray(cut)),
    () => first.slice(0, random.below(first.length)),
    () =>
      `${first}${random.pick(['=', '==', '.', '\n', ' ', '\u0000', '%00', '"', '\ud800', 'A', '_', '-', '\u00e9', '~'])}`,
    () => `${random.pick(['=', ' ', '\n', '\ufeff', 'A', '+', '/'])}${first}`,
    () => first.replace(/[A-Za-z]/, (each) => String.fromCharCode(each.charCodeAt(0) + 0xfee0)),
    () => `${first.slice(0, at)}${random.pick(['\n', ' ', '=', '*', '\u200b', '.'])}${first.slice(at)}`,
    () => a.toString('hex'),
    () => `${a.toString('base64')}${random.pick(['+', '/', '='])}`,
    () => first.repeat(2 + random.below(12)),
    () => random.pick(['0', 'null', '-1', '__proto__', '[]', '{}', "' OR 1=1 --", '*', 'A'.repeat(501)]),
  ];
  return random.pick(kinds)();
}

function flipped(bytes: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ bit;
  return copy;
}

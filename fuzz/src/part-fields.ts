import type { Operation, Slot } from './document.js';
import { slotsOf } from './document.js';
import type { Body } from './json-text.js';
import { raw, toText, withPlace } from './json-text.js';
import type { Case, Part } from './part.js';
import { randomFor } from './random.js';
import type { Sent } from './request.js';
import { keyFor, sampleBody, targetFor } from './samples.js';
import type { World } from './world.js';
import { textOf } from './world.js';
import { WRONG_KINDS, WRONG_TEXTS } from './wrong-kinds.js';

interface Combination {
  readonly operation: Operation;
  readonly slot: Slot;
  readonly kind: number;
}

const EXTRA_HEADERS = ['SVC-API-KEY', 'SVC-TRACE-ID', 'SVC-IDEMPOTENCY-KEY', 'Content-Type', 'X-Forwarded-For'];
const MEDIA = ['application/json', 'application/merge-patch+json', 'application/problem+json', 'text/plain', ''];

const LARGE = 10_000;

/** Every operation x every place x every wrong kind, in an order the seed mixes; then two and three wrongs at once. */
export const fields: Part = {
  name: 'fields',
  about: 'every operation x every field x every wrong kind, from the OpenAPI document',
  cases: { short: 2_600, long: 90_000 },
  width: 48,
  async run(one) {
    const all = combinationsOf(one.world);
    const first = all[one.index % all.length];
    if (first === undefined) throw new Error('assertion failed: there are combinations');
    const wrongs = [first];
    // Once each place has been wrong alone, further wrongs go beside it.
    for (let more = one.index < all.length ? 0 : 1 + one.random.below(2); more > 0; more -= 1) {
      const slots = slotsOf(first.operation);
      if (slots.length === 0) break;
      const slot = one.random.pick(slots);
      wrongs.push({ operation: first.operation, slot, kind: one.random.below(1_000) });
    }
    await one.send(await requestWith(one, first.operation, wrongs));
  },
};

const COMBINATIONS = new WeakMap<World, readonly Combination[]>();

function combinationsOf(world: World): readonly Combination[] {
  const known = COMBINATIONS.get(world);
  if (known) return known;
  const all = world.document.operations.flatMap((operation) => {
    const extras = EXTRA_HEADERS.map((name): Slot => ({ in: 'header', name, path: [], schema: {} }));
    return [...slotsOf(operation), ...extras].flatMap((slot) =>
      Array.from({ length: slot.in === 'body' ? WRONG_KINDS.length : WRONG_TEXTS.length }, (_, kind) => ({
        operation,
        slot,
        kind,
      })),
    );
  });
  const mixed = randomFor(`${world.seed}:combinations`).shuffle(all);
  COMBINATIONS.set(world, mixed);
  return mixed;
}

async function requestWith(one: Case, operation: Operation, wrongs: readonly Combination[]): Promise<Sent> {
  const { random, world } = one;
  const headers = new Map<string, string>();
  const query: string[] = [];
  let path = operation.path;
  let body: Body | undefined = operation.body && sampleBody(operation.body, random, world);
  const key = keyFor(operation, world);
  if (key !== undefined) headers.set('SVC-API-KEY', key);
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  if (operation.path === '/sessions/authorize' && body !== undefined)
    body = withPlace(body, ['nonce'], await nonceOf(one));
  for (const { slot, kind } of wrongs) {
    const text = WRONG_TEXTS[kind % WRONG_TEXTS.length] ?? '';
    if (slot.in === 'body' && body !== undefined) {
      const wrong = WRONG_KINDS[kind % WRONG_KINDS.length];
      if (wrong) body = withPlace(body, slot.path, raw(wrong.make(slot.schema, random)));
    } else if (slot.in === 'path') {
      path = path.replace(`{${slot.name}}`, encodeURIComponent(text));
    } else if (slot.in === 'query') {
      for (let times = random.oneIn(5) ? 2 : 1; times > 0; times -= 1) query.push(queryPair(slot.name, text));
    } else if (slot.in === 'header') {
      headers.set(slot.name, headerValue(slot.name, kind, text));
    }
  }
  const filled = targetFor({ ...operation, path }, random, world);
  const text = body === undefined ? undefined : toText(body);
  // Stored where nothing lists it: a page of such tokens would be what is measured.
  if (text !== undefined && text.length > LARGE && headers.get('SVC-API-KEY') === world.main.privateKey) {
    headers.set('SVC-API-KEY', world.side.privateKey);
  }
  return {
    method: operation.method,
    target: query.length === 0 ? filled : `${filled}?${query.join('&')}`,
    headers: [...headers],
    body: text,
  };
}

function queryPair(name: string, text: string): string {
  return `${name}=${encodeURIComponent(text)}`;
}

/** What the parser lets into a header: no control characters. Those go over the wire as raw bytes in a part of their own. */
function headerValue(name: string, kind: number, text: string): string {
  if (name === 'Content-Type' && kind % 3 === 0) return MEDIA[kind % MEDIA.length] ?? '';
  return Buffer.from(Buffer.from(text, 'utf8').map((byte) => (byte < 0x20 || byte === 0x7f ? 0x3f : byte))).toString(
    'latin1',
  );
}

async function nonceOf(one: Case): Promise<string> {
  const answer = await one.call(one.world.main.publicKey, 'POST', '/sessions');
  one.check(answer.status === 201, `a session was not made: ${answer.status}`);
  return textOf(JSON.parse(answer.body), 'nonce');
}

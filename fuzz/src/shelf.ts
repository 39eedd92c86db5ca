import type { Ask, Tenant } from './world.js';

/** A token of the shelf, as lists and searches may name it. */
export interface Shelved {
  readonly id: string;
  readonly type: string;
  readonly container: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** What its search index holds; undefined for types that are indexed in their own way. */
  readonly indexed: string | undefined;
}

/** A tenant whose tokens are all known: whatever is asked of its lists, the rows of an answer can only be these. */
export interface Shelf extends Tenant {
  readonly shelved: readonly Shelved[];
  /** Of all its tokens, the newest first, as every list gives them. */
  readonly ids: readonly string[];
}

const SHELVED = 24;
const CONTAINERS = ['/general/high/', '/shelf/', '/shelf/upper/', '/shelf/upper/left/', '/pci/high/'];
const KEYS = ['k', 'Kind', 'a b', 'ünï', '__proto__', 'constructor', 'x.y', 'q"q', 'b\\s', '(p)'];
const VALUES = ['v', 'V', 'two words', '"quoted"', 'back\\slash', '*', 'a:b', 'AND', '', '%_', '\u202ex', 'e\u0301'];

export async function makeShelf(ask: Ask, tenant: Tenant): Promise<Shelf> {
  for (let place = 0; place < SHELVED; place += 1) {
    const value = `${at(VALUES, place)}${place}`;
    const type = at(['token', 'card_number', 'social_security_number'], place);
    // Entries, so that a name such as __proto__ becomes a member.
    const metadata = Object.fromEntries(
      [0, 1, 2].map((more) => [at(KEYS, place + more), at(VALUES, place * 3 + more)]),
    );
    await ask(tenant.privateKey, 'POST', '/tokens', {
      id: `shelf ${value.replaceAll(/[\\%]/g, '~')}`,
      type,
      data: at<unknown>([{ value }, '4242424242424242', '123-45-6789'], place),
      containers: [at(CONTAINERS, place)],
      metadata,
      ...(type === 'token' && { search_indexes: ['{{ data.value }}'] }),
    });
  }
  const { data } = await ask(tenant.privateKey, 'GET', '/tokens?size=100');
  const shelved = Object.values(Object(data)).map((token): Shelved => {
    const { id, type, containers, metadata = {}, data: content } = Object(token);
    return { id, type, container: containers[0], metadata, indexed: type === 'token' ? content.value : undefined };
  });
  return { ...tenant, shelved, ids: shelved.map(({ id }) => id) };
}

function at<T>(list: readonly T[], place: number): T {
  const found = list[place % list.length];
  if (found === undefined) throw new Error('assertion failed: the list has members');
  return found;
}

import type { Ask, Tenant } from './world.js';

/** A token of the shelf, as lists and searches may name it. */
export interface Shelved {
  readonly id: string;
  readonly type: string;
  readonly container: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** What its search index holds. */
  readonly indexed: string;
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
  const shelved: Shelved[] = [];
  for (let place = 0; place < SHELVED; place += 1) {
    const at = <T>(list: readonly T[], from: number): T => {
      const found = list[from % list.length];
      if (found === undefined) throw new Error('assertion failed: the list has members');
      return found;
    };
    // Entries, so that a name such as __proto__ becomes a member.
    const metadata = Object.fromEntries(
      [0, 1, 2].map((more) => [at(KEYS, place + more), at(VALUES, place * 3 + more)]),
    );
    const one: Shelved = {
      id: `shelf ${at(VALUES, place).replaceAll(/[\\%]/g, '~') || '-'} ${place}`,
      type: at(['token', 'card_number', 'social_security_number'], place),
      container: at(CONTAINERS, place),
      metadata,
      indexed: `${at(VALUES, place)}${place}`,
    };
    const data = at<unknown>([{ value: one.indexed }, '4242424242424242', '123-45-6789'], place);
    await ask(tenant.privateKey, 'POST', '/tokens', {
      id: one.id,
      type: one.type,
      data,
      containers: [one.container],
      metadata,
      ...(one.type === 'token' && { search_indexes: ['{{ data.value }}'] }),
    });
    shelved.push(one);
  }
  const { data } = await ask(tenant.privateKey, 'GET', '/tokens?size=100');
  const ids = Object.values(Object(data)).map((token) => String(Object(token).id));
  return { ...tenant, shelved, ids };
}

import { formatDate } from '../kernel/dates.js';
import { EXIT } from '../kernel/exit.js';
import { FIRST_ID } from '../kernel/ids.js';
import type { ListedUser } from '../people/users/administration-queries.js';
import { countTenantsOfUsers, lastSeenOfUsers, listUsers } from '../people/users/administration-queries.js';
import type { Database } from '../storage/database.js';
import type { Command } from './command.js';
import { printable } from './printable.js';
import { withCore } from './with-core.js';

const PAGE_ROWS = 1_000;
const STATE_WIDTH = 'no sign-in'.length;

export const userList: Command = {
  name: 'user list',
  summary: 'List every user, by id',
  flags: { json: { type: 'boolean', about: 'One JSON object a line' } },
  run: (flags, output) =>
    withCore('user list', async ({ database }) => {
      const show = flags.isSet('json') ? asJson : asText;
      let after = FIRST_ID;
      for (;;) {
        const page = await pageAfter(database, after);
        for (const user of page) output.print(show(user));
        const last = page.at(-1);
        if (!last || page.length < PAGE_ROWS) return EXIT.ok;
        after = last.id;
      }
    }),
};

interface ShownUser {
  readonly id: string;
  readonly email: string | null;
  readonly state: 'no sign-in' | 'active' | 'disabled';
  readonly tenants: number;
  readonly createdAt: string;
  readonly seenAt: string | undefined;
}

function pageAfter(database: Database, after: string): Promise<ShownUser[]> {
  return database.readPeople(async (tx) => {
    const users = await listUsers(tx, after, PAGE_ROWS);
    const ids = users.map(({ id }) => id);
    const [tenants, seen] = await Promise.all([countTenantsOfUsers(tx, ids), lastSeenOfUsers(tx, ids)]);
    return users.map((user) => {
      const seenAt = seen.get(user.id);
      return {
        id: user.id,
        email: user.email,
        state: stateOf(user),
        tenants: tenants.get(user.id) ?? 0,
        createdAt: formatDate(user.created_at.getTime()),
        seenAt: seenAt && formatDate(seenAt.getTime()),
      };
    });
  });
}

function stateOf({ is_disabled, can_sign_in }: ListedUser): ShownUser['state'] {
  if (is_disabled) return 'disabled';
  return can_sign_in ? 'active' : 'no sign-in';
}

function asText({ id, email, state, tenants, seenAt }: ShownUser): string {
  const counted = `${tenants} ${tenants === 1 ? 'Tenant' : 'Tenants'}`;
  const seen = seenAt === undefined ? 'not signed in' : `seen ${seenAt}`;
  return `${id}  ${state.padEnd(STATE_WIDTH)}  ${counted}  ${seen}  ${email === null ? '(no address)' : printable(email)}`;
}

function asJson({ id, email, state, tenants, createdAt, seenAt }: ShownUser): string {
  return JSON.stringify({
    id,
    ...(email !== null && { email }),
    state,
    tenants,
    created_at: createdAt,
    ...(seenAt !== undefined && { seen_at: seenAt }),
  });
}

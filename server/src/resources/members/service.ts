import type { Principal } from '../../access/principal.js';
import { refuseHigherRole } from '../../access/roles.js';
import { isMemberMacValid } from '../../access/row-macs.js';
import type { AuditContext } from '../../audit/entry.js';
import type { LogEvent } from '../../audit/events.js';
import { record } from '../../audit/record.js';
import type { SystemKeys } from '../../crypto/system-keys.js';
import { offsetPage, pageAsked } from '../../http/paging/pages.js';
import { AppError, storageUnavailable } from '../../kernel/errors.js';
import { isUuid } from '../../kernel/ids.js';
import { createKeyedLock } from '../../kernel/keyed-lock.js';
import type { UserRow } from '../../people/users/queries.js';
import { listUsersById } from '../../people/users/queries.js';
import { announce } from '../../storage/changes.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import { MEMBER_EVENTS } from './events.js';
import type { StoredMember } from './queries.js';
import { countMembers, deleteMember, findMember, listMembers, lockMember, updateMember } from './queries.js';
import type { MemberBody, MemberList, MembersQuery, MemberUpdate } from './schema.js';
import { memberBodyOf, memberIdentityOf, memberInRole } from './stored/member.js';

export interface MembersOptions {
  readonly database: Database;
  readonly systemKeys: SystemKeys;
  /** Drops what this process remembers of a tenant's rights, before the answer goes out. */
  readonly forgetAccess: (tenantId: string) => void;
  readonly onMemberChanged: (story: MemberStory, auditContext: AuditContext) => void;
  readonly onMemberAltered: (story: AlteredMember) => void;
}

/** A line of the operator's security log. */
export interface MemberStory {
  readonly event: LogEvent;
  readonly tenantId: string;
  readonly memberId: string;
  readonly userId: string;
  readonly before?: string;
  readonly after?: string;
}

/** A member whose row was changed outside the product. */
export interface AlteredMember {
  readonly tenantId: string;
  readonly memberId: string;
}

type Id = string | undefined;

export interface Members {
  list(tenantId: string, query: MembersQuery): Promise<MemberList>;
  update(principal: Principal, auditContext: AuditContext, id: Id, input: MemberUpdate): Promise<MemberBody>;
  remove(tenantId: string, auditContext: AuditContext, id: Id): Promise<void>;
}

export function createMembers(options: MembersOptions): Members {
  const { database, systemKeys } = options;
  const change = createChange(options);
  return {
    async list(tenantId, query) {
      const { page, size, offset } = pageAsked(query);
      // What is no id names nobody, so it narrows the list like an id nobody has.
      const userIds = query.user_id?.filter(isUuid).map((id) => id.toLowerCase());
      const [rows, total] = await database.readPage(tenantId, (tx) =>
        Promise.all([listMembers(tx, userIds, size, offset), countMembers(tx, userIds)]),
      );
      const users = await usersOf(options, rows);
      return {
        pagination: offsetPage({ total, page, size }),
        data: rows.map((row) => memberBodyOf(tenantId, verifiedMember(options, tenantId, row), users.get(row.user_id))),
      };
    },

    async update(principal, auditContext, given, { role }) {
      const { tenantId } = principal;
      const id = memberIdOf(given);
      refuseHigherRole(principal, role);
      const known = await database.read(tenantId, (tx) => findMember(tx, id));
      if (!known) throw noSuchMember();
      const users = await usersOf(options, [known]);
      return change(tenantId, id, auditContext, async (tx, member) => {
        const updated = memberInRole(tenantId, systemKeys.rowMac, auditContext, { member, role });
        if (!(await updateMember(tx, member, updated))) return undefined;
        const body = memberBodyOf(tenantId, updated, users.get(member.user_id));
        return { body, story: memberStoryOf(MEMBER_EVENTS.role_changed, member, role) };
      });
    },

    remove: (tenantId, auditContext, given) =>
      change(tenantId, memberIdOf(given), auditContext, async (tx, member) => {
        if (!(await deleteMember(tx, member))) return undefined;
        return { body: undefined, story: memberStoryOf(MEMBER_EVENTS.removed, member) };
      }),
  };
}

/** Ends a membership by the user itself. */
export function createOwnMembership(
  options: MembersOptions,
): (tenantId: string, memberId: string, auditContext: AuditContext) => Promise<void> {
  const { remove } = createMembers(options);
  return (tenantId, memberId, auditContext) => remove(tenantId, auditContext, memberId);
}

/** Undefined, with nothing written, for a member that is not as it was read any more. */
type WorkOnMember<T> = (
  tx: TenantTx,
  member: StoredMember,
) => Promise<{ readonly body: T; readonly story: StoryOfMember } | undefined>;

type Change = <T>(tenantId: string, id: string, auditContext: AuditContext, work: WorkOnMember<T>) => Promise<T>;

/** Changes of one member. A refusal is handed back, so that what shares its transaction goes on. */
function createChange(options: MembersOptions): Change {
  const inTurn = createKeyedLock();

  async function attempt<T>(tx: TenantTx, id: string, work: WorkOnMember<T>) {
    const member = await lockMember(tx, id);
    if (!member) return noSuchMember();
    if (verifiedMember(options, tx.tenantId, member).role === 'OWNER') return ownerProtected();
    return work(tx, member);
  }

  return async (tenantId, id, auditContext, work) => {
    const outcome = await inTurn(`${tenantId} ${id}`, () =>
      options.database.write(tenantId, async (tx) => {
        let done = await attempt(tx, id, work);
        // Something in the same transaction was faster: what it left is looked at.
        while (done === undefined) done = await attempt(tx, id, work);
        if (done instanceof AppError) return done;
        await Promise.all([
          record(tx, auditContext, { event: done.story.event, entityId: id, outcome: 'success' }),
          announce(tx, { kind: 'access', tenantId }),
        ]);
        await auditContext.keepAnswer?.(tx, done.body);
        return done;
      }),
    );
    if (outcome instanceof AppError) throw outcome;
    options.forgetAccess(tenantId);
    options.onMemberChanged({ ...outcome.story, tenantId }, auditContext);
    return outcome.body;
  };
}

/** Throws unless the row is as the product wrote it. */
export function verifiedMember(
  options: Pick<MembersOptions, 'systemKeys' | 'onMemberAltered'>,
  tenantId: string,
  member: StoredMember,
): StoredMember {
  if (isMemberMacValid(options.systemKeys.rowMac, memberIdentityOf(tenantId, member), member.mac)) return member;
  options.onMemberAltered({ tenantId, memberId: member.id });
  throw storageUnavailable(new Error('a member was changed outside the product'));
}

async function usersOf(
  { database }: MembersOptions,
  members: readonly StoredMember[],
): Promise<ReadonlyMap<string, UserRow>> {
  if (members.length === 0) return new Map();
  const ids = members.map(({ user_id }) => user_id);
  const users = await database.readPeople((tx) => listUsersById(tx, ids));
  return new Map(users.map((user) => [user.id, user]));
}

export type StoryOfMember = Omit<MemberStory, 'tenantId'>;

export function memberStoryOf(event: LogEvent, { id, user_id, role }: StoredMember, after?: string): StoryOfMember {
  return { event, memberId: id, userId: user_id, before: role, ...(after !== undefined && { after }) };
}

function memberIdOf(given: Id): string {
  if (given !== undefined && isUuid(given)) return given.toLowerCase();
  throw noSuchMember();
}

function noSuchMember(): AppError {
  return new AppError('not_found', 'There is no such member. GET /tenants/self/members lists those there are.');
}

function ownerProtected(): AppError {
  return new AppError(
    'owner_protected',
    'The owner of a Tenant keeps its role and its membership. Transfer the ownership first.',
  );
}

import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import type { FieldErrors } from '../../kernel/errors.js';
import { validationFailed } from '../../kernel/errors.js';
import { createKeyedLock } from '../../kernel/keyed-lock.js';
import type { Database } from '../../storage/database.js';
import { isStranger } from '../present/answer.js';
import type { OpenToken } from '../present/present.js';
import type { Combination, CombinationCount } from './combination-queries.js';
import { countCombinations, findKnown, freeEmpty, insertCombinations } from './combination-queries.js';

/** Combinations of type and containers that a tenant may have. */
export const COMBINATIONS_MAX = 10_000;
/** How many of them public keys and sessions may add together: whoever has such a key must not use up the others' room. */
export const STRANGERS_COMBINATIONS_MAX = 1_000;

/** How long a process need not ask again for one that it knows. */
const REMEMBERED_MS = 600_000;
/** One that nobody asked for since, and that no token is in, may go. Far more than any process remembers it. */
const UNSEEN_SECONDS = 3_600;
/** How often room is looked for where there is none left: looking goes over all of a tenant's. */
const FREEING_MS = 60_000;
const ENTRIES_MAX = 50_000;

export interface CombinationsOptions {
  readonly database: Database;
  /** Lower ones for tests; those above unless told. */
  readonly bounds?: { readonly all: number; readonly byStrangers: number };
}

export interface Combinations {
  /**
   * Throws a 400 where a token would make a combination more than its tenant may have. At once, and asking nobody, where
   * this process knows all of them. `prefixOf` tells where in the body the fields of a token stand.
   */
  admit(
    principal: Principal,
    auditContext: AuditContext,
    tokens: readonly OpenToken[],
    prefixOf?: (n: number) => string,
  ): Promise<void> | undefined;
}

interface Unknown extends Combination {
  readonly prefix: string;
}

/**
 * Keeps the number of combinations within bounds, since every list by rules goes over all of them. One that is new is let
 * in by a transaction of its own before the token is written; one tenant's in a process take turns, so that only those of
 * other processes can come in between: each of these lets in as many at once as one request may hold.
 */
export function createCombinations(options: CombinationsOptions): Combinations {
  const { database } = options;
  const bounds = options.bounds ?? { all: COMBINATIONS_MAX, byStrangers: STRANGERS_COMBINATIONS_MAX };
  const known = new Map<string, Map<string, number>>();
  const freedAtMs = new Map<string, number>();
  const inTurn = createKeyedLock();
  let entries = 0;

  function isKnown(tenantId: string, groupId: string, nowMs: number): boolean {
    const untilMs = known.get(tenantId)?.get(groupId);
    return untilMs !== undefined && untilMs > nowMs;
  }

  function remember(tenantId: string, groupId: string, untilMs: number): void {
    if (entries >= ENTRIES_MAX) {
      known.clear();
      entries = 0;
    }
    const groups = known.get(tenantId) ?? new Map<string, number>();
    known.set(tenantId, groups);
    if (!groups.has(groupId)) entries += 1;
    groups.set(groupId, untilMs);
  }

  /** The new ones among these, if there is no room for them. */
  async function overflowOf({ tenantId }: Principal, asked: readonly Unknown[], isByStranger: boolean) {
    const [there, count] = await database.readAtOnce(tenantId, (tx) =>
      Promise.all([
        findKnown(
          tx,
          asked.map(({ groupId }) => groupId),
        ),
        countCombinations(tx),
      ]),
    );
    const fresh = asked.filter(({ groupId }) => !there.has(groupId));
    const added = new Set(fresh.map(({ groupId }) => groupId)).size;
    return added > roomIn(count, isByStranger) ? fresh : [];
  }

  function roomIn(count: CombinationCount, isByStranger: boolean): number {
    const room = bounds.all - count.all;
    return isByStranger ? Math.min(room, bounds.byStrangers - count.byStrangers) : room;
  }

  async function isFreed({ tenantId }: Principal, nowMs: number): Promise<boolean> {
    if ((freedAtMs.get(tenantId) ?? Number.NEGATIVE_INFINITY) > nowMs - FREEING_MS) return false;
    if (freedAtMs.size >= ENTRIES_MAX) freedAtMs.clear();
    freedAtMs.set(tenantId, nowMs);
    return (await database.write(tenantId, (tx) => freeEmpty(tx, UNSEEN_SECONDS))) > 0;
  }

  async function admitUnknown(
    principal: Principal,
    auditContext: AuditContext,
    asked: readonly Unknown[],
  ): Promise<void> {
    const { tenantId } = principal;
    const isByStranger = isStranger(principal);
    // Asked before it is one's turn too: those who are refused must not hold up the others.
    let overflow = await overflowOf(principal, asked, isByStranger);
    if (overflow.length > 0 && (await isFreed(principal, auditContext.atMs))) {
      overflow = await overflowOf(principal, asked, isByStranger);
    }
    if (overflow.length > 0) throw tooMany(overflow, isByStranger);
    await inTurn(tenantId, async () => {
      const last = await overflowOf(principal, asked, isByStranger);
      if (last.length > 0) throw tooMany(last, isByStranger);
      await database.write(tenantId, (tx) => insertCombinations(tx, asked, isByStranger));
    });
    for (const { groupId } of asked) remember(tenantId, groupId, auditContext.atMs + REMEMBERED_MS);
  }

  return {
    admit(principal, auditContext, tokens, prefixOf = () => '') {
      let unknown: Unknown[] | undefined;
      for (const [n, token] of tokens.entries()) {
        if (isKnown(principal.tenantId, token.row.group_id, auditContext.atMs)) continue;
        unknown ??= [];
        unknown.push({ ...combinationOf(token), prefix: prefixOf(n) });
      }
      return unknown && admitUnknown(principal, auditContext, unknown);
    },
  };
}

export function combinationOf({ row, content }: OpenToken): Combination {
  return { groupId: row.group_id, type: content.type, containers: content.containers };
}

function tooMany(overflow: readonly Unknown[], isByStranger: boolean) {
  const whose = isByStranger ? 'public keys and sessions may add no more' : 'the Tenant may have no more';
  const message = `would make a new combination of type and containers, and ${whose}; use containers that are in use`;
  const errors: FieldErrors = {};
  for (const { prefix } of overflow) errors[`${prefix}containers`] = [message];
  return validationFailed(errors);
}

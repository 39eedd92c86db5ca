import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import type { FieldErrors } from '../../kernel/errors.js';
import { validationFailed } from '../../kernel/errors.js';
import { createKeyedLock } from '../../kernel/keyed-lock.js';
import type { Database } from '../../storage/database.js';
import { isStranger } from '../present/answer.js';
import type { OpenToken } from '../present/present.js';
import type { Combination } from './combination-queries.js';
import { insertCombinations } from './combination-queries.js';
import type { CombinationBounds } from './combination-room.js';
import { createCombinationRoom } from './combination-room.js';
import { KnownCombinations } from './known-combinations.js';

/** Combinations of type and containers that a tenant may have. */
export const COMBINATIONS_MAX = 10_000;
/** How many of them public keys and sessions may add together: whoever has such a key must not use up the others' room. */
export const STRANGERS_COMBINATIONS_MAX = 1_000;

export interface CombinationsOptions {
  readonly database: Database;
  /** Lower ones for tests; those above unless told. */
  readonly bounds?: CombinationBounds;
}

export interface Combinations {
  /**
   * Throws a 400 where a token would make a combination more than its tenant may have. At once, and asking nobody, where
   * this process knows all of them. `prefixOf` tells where in the body the fields of a token stand.
   */
  allow(
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
  const room = createCombinationRoom(database, bounds);
  const known = new KnownCombinations();
  const inTurn = createKeyedLock();

  async function allowUnknown(
    principal: Principal,
    auditContext: AuditContext,
    asked: readonly Unknown[],
  ): Promise<void> {
    const { tenantId } = principal;
    const isByStranger = isStranger(principal);
    // Asked before it is one's turn too: those who are refused must not hold up the others.
    let overflow = await room.overflowOf(tenantId, asked, isByStranger);
    if (overflow.length > 0 && (await room.isFreed(tenantId, auditContext.atMs))) {
      overflow = await room.overflowOf(tenantId, asked, isByStranger);
    }
    if (overflow.length > 0) throw tooMany(overflow, isByStranger);
    await inTurn(tenantId, async () => {
      const last = await room.overflowOf(tenantId, asked, isByStranger);
      if (last.length > 0) throw tooMany(last, isByStranger);
      await database.write(tenantId, (tx) => insertCombinations(tx, asked, isByStranger));
    });
    for (const { groupId } of asked) known.add(tenantId, groupId, auditContext.atMs);
  }

  return {
    allow(principal, auditContext, tokens, prefixOf = () => '') {
      let unknown: Unknown[] | undefined;
      for (const [n, token] of tokens.entries()) {
        if (known.has(principal.tenantId, token.row.group_id, auditContext.atMs)) continue;
        unknown ??= [];
        unknown.push({ ...combinationOf(token), prefix: prefixOf(n) });
      }
      return unknown && allowUnknown(principal, auditContext, unknown);
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

import type { AuditContext } from '../../audit/entry.js';
import type { Database } from '../../storage/database.js';
import type { PlacedToken } from '../change/change.js';
import { recordTokens } from '../change/change.js';
import { TOKEN_EVENTS } from '../events.js';

/**
 * Evaluates what a caller wrote on tokens that were opened for it. That it failed tells the caller something about them, so
 * the entry that says so is durable before the refusal leaves; where it cannot be written, nothing is told.
 */
export function createRefusals(database: Database, auditContext: AuditContext) {
  const failures = new WeakSet<object>();

  return {
    /** What this throws came of looking at opened data. */
    noting<T>(evaluate: () => T): T {
      try {
        return evaluate();
      } catch (error) {
        if (typeof error === 'object' && error !== null) failures.add(error);
        throw error;
      }
    },
    /** Gives the failure back, after the log has it if it was noted. */
    async logged(tokens: readonly PlacedToken[], error: unknown): Promise<unknown> {
      const [first] = tokens;
      if (first === undefined || typeof error !== 'object' || error === null || !failures.has(error)) return error;
      const { tenant_id: tenantId } = first.row;
      await database.append(tenantId, (tx) => recordTokens(tx, auditContext, TOKEN_EVENTS.refused, tokens, 'failure'));
      return error;
    },
  };
}

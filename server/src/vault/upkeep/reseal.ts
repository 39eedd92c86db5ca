import { IntegrityError } from '../../crypto/integrity-error.js';
import { openContent, resealContent } from '../../resources/tokens/index.js';
import type { Stage } from '../../rotation/stage.js';
import type { SealedToken } from './reseal-queries.js';
import {
  countTokens,
  listSealedTokens,
  listTokenKeyVersions,
  lockTokensToReseal,
  updateSealed,
} from './reseal-queries.js';

export const tokenStage: Stage = {
  name: 'tokens',
  async reseal(tx, keys, place, limit) {
    const current = keys.encryption.currentVersion;
    // Versions first and without a lock: in a pass over what is done already, nobody has to wait.
    const page = await listTokenKeyVersions(tx, place, current, limit);
    const others = page.filter((row) => !row.is_current).map(({ id }) => id);
    const rows = others.length === 0 ? [] : await lockTokensToReseal(tx, others, current);
    const { done, faults } = attempt(rows, (row) => ({ ...row, sealed: resealContent(keys, row) }));
    if (done.length > 0) await updateSealed(tx, done);
    return { next: nextOf(page, limit), seen: page.length, resealed: done.length, faults };
  },
  async verify(tx, keys, place, limit) {
    const page = await listSealedTokens(tx, place, limit);
    const { faults } = attempt(page, (row) => openContent(keys, row));
    return { next: nextOf(page, limit), seen: page.length, faults };
  },
  count: countTokens,
};

/** One row that does not open keeps no other from its turn. */
function attempt<T>(rows: readonly SealedToken[], act: (row: SealedToken) => T): { done: T[]; faults: string[] } {
  const done: T[] = [];
  const faults: string[] = [];
  for (const row of rows) {
    try {
      done.push(act(row));
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw error;
      faults.push(row.id);
    }
  }
  return { done, faults };
}

function nextOf(page: readonly { readonly id: string }[], limit: number): string | undefined {
  return page.length < limit ? undefined : page.at(-1)?.id;
}

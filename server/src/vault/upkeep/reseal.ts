import type { SealedRows } from '../../tables/walk.js';
import { attemptEach, stepOf } from '../../tables/walk.js';
import { openContent, resealContent } from '../stored/seal.js';
import {
  countAllTokens,
  listSealedTokens,
  listTokenKeyVersions,
  lockTokensToReseal,
  updateSealed,
} from './reseal-queries.js';

const idOf = ({ id }: { readonly id: string }): string => id;

export const SEALED_TOKENS: SealedRows = {
  async reseal(tx, keys, place, limit) {
    const current = keys.encryption.currentVersion;
    // Versions first and without a lock: in a pass over what is done already, nobody has to wait.
    const page = await listTokenKeyVersions(tx, place, current, limit);
    const others = page.filter((row) => !row.is_current).map(idOf);
    const rows = others.length === 0 ? [] : await lockTokensToReseal(tx, others, current);
    const { done, faults } = attemptEach(rows, idOf, (row) => ({ ...row, sealed: resealContent(keys, row) }));
    if (done.length > 0) await updateSealed(tx, done);
    return { ...stepOf(page, limit, idOf, faults), resealed: done.length };
  },
  async verify(tx, keys, place, limit) {
    const page = await listSealedTokens(tx, place, limit);
    const { faults } = attemptEach(page, idOf, (row) => openContent(keys, row));
    return stepOf(page, limit, idOf, faults);
  },
  count: countAllTokens,
};

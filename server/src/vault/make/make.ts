import type { Principal } from '../../access/principal.js';
import type { TenantTx } from '../../storage/scope.js';
import { recordTouched } from '../change/change.js';
import { TOKEN_EVENTS } from '../events.js';
import type { Opener } from '../open/open.js';
import type { GrantedToken } from '../present/answer.js';
import { isStranger, presentMatch } from '../present/answer.js';
import { bareBody, createPresent } from '../present/present.js';
import type { PresentedToken } from '../present/token-body.js';
import type { Preparation } from './prepare.js';
import { storeTokens } from './store.js';

/** Writes tokens, or finds the ones that stand for them, and gives each its answer, in the order they came. */
export async function makeTokens(
  tx: TenantTx,
  opener: Opener,
  principal: Principal,
  preparation: Preparation,
  tokens: readonly GrantedToken[],
): Promise<PresentedToken[]> {
  const { auditContext, budget } = preparation;
  const stored = await storeTokens(
    tx,
    opener,
    preparation,
    tokens.map(({ token }) => token),
  );
  const rows = stored.flatMap((outcome) => (outcome.kind === 'matched' ? [outcome.row] : []));
  const matched = await opener.openIn(tx, rows, auditContext);
  const matches = new Map(rows.map((row, n) => [row, matched[n]]));
  // Two that led to the same token are two acts.
  if (matched.length > 0) await recordTouched(tx, auditContext, TOKEN_EVENTS.matched, matched);
  const present = createPresent(preparation, () => budget, auditContext);
  return stored.map((outcome, n) => {
    const { token, transform } = tokens[n] as GrantedToken; // One outcome for each token, in their order.
    const match = outcome.kind === 'matched' ? matches.get(outcome.row) : undefined;
    const made = outcome.kind === 'made' ? outcome.token : token;
    if (token.isDeduplicated && isStranger(principal)) return bareBody(match ?? made);
    return match
      ? presentMatch(principal, present, match, auditContext.atMs)
      : present.body(made, transform, auditContext.atMs);
  });
}

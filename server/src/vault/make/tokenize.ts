import type { Principal } from '../../access/principal.js';
import type { Act } from '../../audit/entry.js';
import type { FieldErrors } from '../../kernel/errors.js';
import { validationFailed } from '../../kernel/errors.js';
import type { Json } from '../../kernel/json.js';
import { readTokenizeBody } from '../../resources/tokens/input/tokenize.js';
import type { Database } from '../../storage/database.js';
import type { Opener } from '../open/open.js';
import { prepareGranted } from '../present/answer.js';
import { keepShowing } from '../present/keep.js';
import type { Combinations } from './combinations.js';
import { makeTokens } from './make.js';
import type { Preparation } from './prepare.js';
import { writeUnlessTaken } from './taken-ids.js';
import { tooManyTokens } from './too-many.js';

export interface TokenizeOptions {
  readonly database: Database;
  readonly opener: Opener;
  readonly prepareFor: (principal: Principal, act: Act) => Preparation | Promise<Preparation>;
  readonly combinations: Combinations;
  readonly tokensPerRequestMax: number;
}

/** Makes a token of everything in a body that can be one: all of them in one transaction, or none. */
export function createTokenize(options: TokenizeOptions) {
  return async function tokenize(principal: Principal, act: Act, body: Json): Promise<Json> {
    const errors: FieldErrors = {};
    const plan = readTokenizeBody(body, { path: '', nowMs: act.atMs }, errors, options.tokensPerRequestMax);
    if (plan.isTooMany) throw tooManyTokens(options.tokensPerRequestMax);
    if (Object.keys(errors).length > 0) throw validationFailed(errors);
    const preparation = await options.prepareFor(principal, act);
    const prefixOf = (n: number) => fieldPrefix(plan.paths[n] ?? '');
    const tokens = plan.tokens.map((input, n) => prepareGranted(preparation, principal, input, prefixOf(n)));
    const made = tokens.map(({ token }) => token);
    const admission = options.combinations.admit(principal, act, made, prefixOf);
    if (admission) await admission;
    const rebuild = (bodies: readonly Json[]) => plan.rebuild(bodies);
    if (tokens.length === 0 && !act.keepAnswer) return rebuild([]);
    const prepared = tokens.map(({ token }) => token);
    return writeUnlessTaken(options.database, principal.tenantId, prepared, act.atMs, async (tx) => {
      const bodies = await makeTokens(tx, options.opener, principal, preparation, tokens);
      // A body is JSON by its schema; the type of its free members is not known to the compiler.
      const answer = rebuild(bodies as unknown as readonly Json[]);
      await keepShowing(tx, act, answer, bodies);
      return answer;
    });
  };
}

function fieldPrefix(path: string): string {
  return path === '' ? '' : `${path}.`;
}

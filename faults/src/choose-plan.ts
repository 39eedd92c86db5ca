import type { Entity } from './journal.js';
import { createApplication, deleteApplication, updateApplication, updateTenant } from './management-plans.js';
import type { Plan, WorkerView } from './plan.js';
import {
  createToken,
  createTokenWithId,
  deleteToken,
  detokenize,
  listTokens,
  patchToken,
  readForeign,
  readToken,
  searchToken,
  tokenize,
} from './token-plans.js';

type Maker = (view: WorkerView) => Plan;
type OfOne = (view: WorkerView, entity: Entity) => Plan;

/** How often each kind comes, of the sum. A kind that needs something the worker does not have yet makes a token. */
const MIX: readonly (readonly [number, Maker])[] = [
  [5, createToken],
  [3, createTokenWithId],
  [2, tokenize],
  [4, ofOwn((view) => view.tokens, patchToken)],
  [2, ofOwn((view) => view.tokens, deleteToken)],
  [6, ofOwn((view) => view.tokens, readToken)],
  [2, ofOwn((view) => view.tokens, detokenize)],
  [2, ofOwn((view) => view.tokens, searchToken)],
  [1, listTokens],
  [1, foreign],
  [1, createApplication],
  [1, ofOwn((view) => view.applications, updateApplication)],
  [1, ofOwn((view) => view.applications, deleteApplication)],
  [1, ofTenant],
];
const TOTAL = MIX.reduce((sum, [weight]) => sum + weight, 0);

export function choosePlan(view: WorkerView): Plan {
  let ticket = view.random.next() * TOTAL;
  for (const [weight, make] of MIX) {
    ticket -= weight;
    if (ticket < 0) return make(view);
  }
  return createToken(view);
}

function ofOwn(owned: (view: WorkerView) => readonly Entity[], make: OfOne): Maker {
  return (view) => {
    const entities = owned(view);
    return entities.length === 0 ? createToken(view) : make(view, view.random.pick(entities));
  };
}

function ofTenant(view: WorkerView): Plan {
  const { tenantEntity } = view;
  return tenantEntity && !tenantEntity.isRetired ? updateTenant(view, tenantEntity) : createToken(view);
}

function foreign(view: WorkerView): Plan {
  const id = view.foreignToken();
  return id === undefined ? createToken(view) : readForeign(view, id);
}

import { validationFailed } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import type { Json } from '../../kernel/json.js';
import { isJsonObject } from '../../kernel/json-object.js';
import type { TokenContent } from '../stored/content.js';
import { hasCvc } from '../types/cvc.js';
import { givesAway, secretNumberOf } from '../types/numbers.js';
import { idFault } from '../types/token-id.js';
import type { Evaluation } from './evaluate.js';
import { comparedText, evaluate } from './evaluate.js';

/** How often an alias that happens to hold the number is drawn again. */
const DRAWS_MAX = 8;

type Subject = Pick<TokenContent, 'type' | 'data'>;

/** An id of our own, drawn again should its digits happen to hold the number. */
export function ownId({ type, data }: Subject): string {
  const number = secretNumberOf(type, data);
  let id = newId();
  while (givesAway(id, number)) id = newId();
  return id;
}

/**
 * The id a request asks for. Ids are in paths, logs and other systems, so none may hold the number or be made of the
 * verification code. An expression that draws at random is given further chances; one that does not comes out the same.
 */
export function settleId(evaluation: Evaluation, text: string, subject: Subject, path: string): string {
  const field = `${path}id`;
  const number = secretNumberOf(subject.type, subject.data);
  if (!evaluation.expressions.isExpression(text)) {
    if (givesAway(text, number)) throw validationFailed({ [field]: [GIVES_AWAY] });
    return text;
  }
  for (let draws = 1; draws <= DRAWS_MAX; draws += 1) {
    const id = evaluateId(evaluation, text, subject, field);
    if (!givesAway(id, number)) return id;
  }
  throw validationFailed({ [field]: [GIVES_AWAY] });
}

const GIVES_AWAY = 'must not hold the number that the token protects; use an alias filter, or leave the id out';

function evaluateId(evaluation: Evaluation, text: string, { type, data }: Subject, field: string): string {
  const watched = watchCode(type, data);
  const id = comparedText(evaluate(evaluation, text, { data: watched.data }, field));
  if (watched.isRead()) throw validationFailed({ [field]: ['must not be made of the verification code'] });
  const fault = id === undefined ? 'must give a text' : idFault(id);
  if (id === undefined || fault !== undefined) throw validationFailed({ [field]: [fault ?? ''] });
  return id;
}

/** The same data, which notices that its verification code is looked at, by whichever way. */
function watchCode(type: Subject['type'], data: Json): { readonly data: Json; isRead(): boolean } {
  let isRead = false;
  if (!hasCvc(type, data) || !isJsonObject(data)) return { data, isRead: () => false };
  const { cvc = null, ...rest } = data;
  const watched = Object.defineProperty(rest, 'cvc', {
    enumerable: true,
    get() {
      isRead = true;
      return cvc;
    },
  });
  return { data: watched, isRead: () => isRead };
}

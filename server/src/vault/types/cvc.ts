import type { Json } from '../../kernel/json.js';
import { isJsonObject } from '../../kernel/json-object.js';
import type { TokenType } from './names.js';

/** Whether a card, or a change to one, brings a cvc that has to be forgotten in time. */
export function hasCvc(type: TokenType, data: Json): boolean {
  return type === 'card' && isJsonObject(data) && data.cvc !== undefined && data.cvc !== null;
}

/** The data of a card with its cvc forgotten; everything else stays as it was sent. */
export function withoutCvc(data: Json): Json {
  if (!isJsonObject(data) || data.cvc === undefined) return data;
  const { cvc: _, ...rest } = data;
  return rest;
}

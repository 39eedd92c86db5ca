import type { Json } from '../kernel/json.js';
import type { Budget } from './budget.js';
import type { Variables } from './compiler.js';
import { createCompiler } from './compiler.js';
import { faultOf, invalidExpression } from './faults.js';
import { walkMask } from './mask.js';
import { jsonBytes, utf8Bytes } from './sizes.js';
import type { Part, TokenReference } from './token-template.js';
import { parseTokenTemplate, referencesOf } from './token-template.js';
import { textOf } from './values.js';

/** A token as `{{ token: <id> }}` shows it; `{{ <id> }}` is its data. */
export interface TokenView {
  readonly [name: string]: Json;
  readonly data: Json;
}

export interface Expressions {
  /** Whether a text is more than itself: it holds `{{` or `{%`. */
  isExpression(text: string): boolean;
  /**
   * A text that is one output gives the value with its type, undefined where there is none; anything around it makes
   * text. Throws `invalid_expression` and nothing else.
   */
  evaluate(text: string, variables: Variables, budget: Budget): Json | undefined;
  /** The mask with its expressions evaluated. A part that fails, or has no value, is left out. */
  evaluateMask(mask: Json, variables: Variables, budget: Budget): Json | undefined;
  /** The tokens a text names, in order, repeated as often as they are. Throws where an output is not closed. */
  referencesOf(text: string, budget: Budget): TokenReference[];
  /** As `evaluate`, where outputs begin with the id of a token. Every token named must be in the map. */
  evaluateWithTokens(text: string, tokens: ReadonlyMap<string, TokenView>, budget: Budget): Json | undefined;
}

/** In text without tags every output is a template of its own, and all of them call their token by this name. */
const TOKEN_VARIABLE = 'token';

export function createExpressions(): Expressions {
  const { valueIn } = createCompiler();

  function evaluate(text: string, variables: Variables, budget: Budget): Json | undefined {
    if (!isExpression(text)) return text;
    try {
      return paid(valueIn(text, variables, budget), budget);
    } catch (error) {
      throw faultOf(error);
    }
  }

  function evaluateWithTokens(text: string, tokens: ReadonlyMap<string, TokenView>, budget: Budget): Json | undefined {
    if (!isExpression(text)) return text;
    const { parts, needsLiquid, hasVariables } = parseTokenTemplate(text, budget);
    if (needsLiquid) return evaluate(...forLiquid(parts, tokens), budget);
    if (hasVariables) throw invalidExpression('An output names a token by its id of 3 to 400 characters.');
    try {
      const values = parts.map((part) =>
        part.kind === 'text'
          ? part.text
          : valueIn(`{{ ${TOKEN_VARIABLE} ${part.filters}`, { [TOKEN_VARIABLE]: tokenOf(part, tokens) }, budget),
      );
      if (values.length === 1) return paid(values[0], budget);
      return paid(values.map((value) => textOf(value, budget)).join(''), budget);
    } catch (error) {
      throw faultOf(error);
    }
  }

  return {
    isExpression,
    referencesOf: (text, budget) => (isExpression(text) ? referencesOf(text, budget) : []),
    evaluate,
    evaluateWithTokens,
    evaluateMask: (mask, variables, budget) =>
      walkMask(mask, (text) => (isExpression(text) ? () => evaluate(text, variables, budget) : text), budget),
  };
}

function isExpression(text: string): boolean {
  return text.includes('{{') || text.includes('{%');
}

/** The result, counted. What is measured here is JSON: anything else was refused by the measuring. */
function paid(value: unknown, budget: Budget): Json | undefined {
  if (value === undefined) return undefined;
  budget.emit(typeof value === 'string' ? utf8Bytes(value) : jsonBytes(value, budget));
  return value as Json;
}

/** The text with variables in place of ids, so that nothing of an id is ever read as Liquid. */
function forLiquid(parts: readonly Part[], tokens: ReadonlyMap<string, TokenView>): [string, Variables] {
  const variables: Record<string, Json> = {};
  const texts = parts.map((part, at) => {
    if (part.kind === 'text') return part.text;
    variables[`${TOKEN_VARIABLE}_${at}`] = tokenOf(part, tokens);
    return `${part.opening} ${TOKEN_VARIABLE}_${at} ${part.filters}`;
  });
  return [texts.join(''), variables];
}

function tokenOf(part: Extract<Part, { kind: 'output' }>, tokens: ReadonlyMap<string, TokenView>): Json {
  const token = tokens.get(part.reference.id);
  if (token === undefined) throw invalidExpression('The expression names a token that was not looked up.');
  return part.reference.isWhole ? token : token.data;
}

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
  /** Throws where `evaluateWithTokens` would, whatever the tokens hold: the text does not parse. Needs no tokens. */
  checkWithTokens(text: string, budget: Budget): void;
}

/** In text without tags every output is a template of its own, and all of them call their token by this name. */
const TOKEN_VARIABLE = 'token';

export function createExpressions(): Expressions {
  const { valueIn, check } = createCompiler();

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
    if (needsLiquid) return evaluate(textForLiquid(parts), variablesOf(parts, tokens), budget);
    if (hasVariables) throw noToken();
    try {
      const values = parts.map((part) =>
        part.kind === 'text'
          ? part.text
          : valueIn(textOfOutput(part), { [TOKEN_VARIABLE]: tokenOf(part, tokens) }, budget),
      );
      if (values.length === 1) return paid(values[0], budget);
      return paid(values.map((value) => textOf(value, budget)).join(''), budget);
    } catch (error) {
      throw faultOf(error);
    }
  }

  function checkWithTokens(text: string, budget: Budget): void {
    if (!isExpression(text)) return;
    const { parts, needsLiquid, hasVariables } = parseTokenTemplate(text, budget);
    if (!needsLiquid && hasVariables) throw noToken();
    const outputs = parts.filter((part) => part.kind === 'output').map(textOfOutput);
    for (const each of needsLiquid ? [textForLiquid(parts)] : outputs) check(each, budget);
  }

  return {
    isExpression,
    referencesOf: (text, budget) => (isExpression(text) ? referencesOf(text, budget) : []),
    evaluate,
    evaluateWithTokens,
    checkWithTokens,
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

type OutputPart = Extract<Part, { kind: 'output' }>;

function textOfOutput({ filters }: OutputPart): string {
  return `{{ ${TOKEN_VARIABLE} ${filters}`;
}

/** The text with variables in place of ids, so that nothing of an id is ever read as Liquid. */
function textForLiquid(parts: readonly Part[]): string {
  const texts = parts.map((part, at) =>
    part.kind === 'text' ? part.text : `${part.opening} ${TOKEN_VARIABLE}_${at} ${part.filters}`,
  );
  return texts.join('');
}

function variablesOf(parts: readonly Part[], tokens: ReadonlyMap<string, TokenView>): Variables {
  const variables: Record<string, Json> = {};
  for (const [at, part] of parts.entries()) {
    if (part.kind === 'output') variables[`${TOKEN_VARIABLE}_${at}`] = tokenOf(part, tokens);
  }
  return variables;
}

function noToken(): Error {
  return invalidExpression('An output names a token by its id of 3 to 400 characters.');
}

function tokenOf(part: OutputPart, tokens: ReadonlyMap<string, TokenView>): Json {
  const token = tokens.get(part.reference.id);
  if (token === undefined) throw invalidExpression('The expression names a token that was not looked up.');
  return part.reference.isWhole ? token : token.data;
}

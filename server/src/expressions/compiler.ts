import type { Template } from 'liquidjs';
import type { AppError } from '../kernel/errors.js';
import type { Json } from '../kernel/json.js';
import { codePointLength } from '../kernel/text.js';
import type { Budget } from './budget.js';
import { invalidExpression, parseFaultOf } from './faults.js';
import { createEngine } from './liquid-engine.js';
import { createLru } from './lru.js';
import type { PlainForm } from './plain-form.js';
import { evaluatePlainForm, parsePlainForm } from './plain-form.js';

export type Variables = Readonly<Record<string, Json>>;

/** Turns a text into what can be evaluated, and remembers that for texts that were used last. */
export interface Compiler {
  /** The value of a text that holds an expression. Pays for reading it and for evaluating it. */
  valueIn(text: string, variables: Variables, budget: Budget): unknown;
  /** Throws where the text can be evaluated on nothing, because it does not parse. Pays for reading it. */
  check(text: string, budget: Budget): void;
}

type Compiled =
  | { readonly kind: 'plain'; readonly form: PlainForm }
  | { readonly kind: 'liquid'; readonly templates: readonly Template[] }
  | { readonly kind: 'failed'; readonly fault: AppError };

const EXPRESSION_CHARACTERS_MAX = 400;
const COMPILED_ENTRIES_MAX = 1_000;
/** Paid once in a request for a text, compiled before or not: a refusal must not hang on what other requests did. */
const PLAIN_PARSE_UNITS = 500;
const LIQUID_PARSE_UNITS = 2_000;
const LIQUID_CHARACTER_UNITS = 60;
/** Paid at every evaluation that enters Liquid. */
const LIQUID_UNITS = 1_500;

export function createCompiler(): Compiler {
  const engine = createEngine();
  const compiled = createLru<Compiled>(COMPILED_ENTRIES_MAX);

  function compile(text: string): Compiled {
    try {
      return { kind: 'liquid', templates: engine.parse(text) };
    } catch (error) {
      return { kind: 'failed', fault: parseFaultOf(error) };
    }
  }

  function read(text: string, budget: Budget): Exclude<Compiled, { readonly kind: 'failed' }> {
    if (text.length > EXPRESSION_CHARACTERS_MAX && codePointLength(text) > EXPRESSION_CHARACTERS_MAX) {
      throw invalidExpression(`An expression has at most ${EXPRESSION_CHARACTERS_MAX} characters.`);
    }
    const isNew = budget.isNew(text);
    if (isNew) budget.spend(PLAIN_PARSE_UNITS + text.length);
    const known = compiled.get(text);
    if (known?.kind === 'plain') return known;
    const form = known === undefined ? parsePlainForm(text) : undefined;
    if (form !== undefined) {
      const plain = { kind: 'plain', form } as const;
      compiled.set(text, plain);
      return plain;
    }
    budget.spend(LIQUID_UNITS + (isNew ? LIQUID_PARSE_UNITS + text.length * LIQUID_CHARACTER_UNITS : 0));
    const template = known ?? compiled.set(text, compile(text));
    if (template.kind === 'failed') throw template.fault;
    return template;
  }

  return {
    check: (text, budget) => void read(text, budget),
    valueIn(text, variables, budget) {
      const found = read(text, budget);
      if (found.kind === 'plain') return evaluatePlainForm(found.form, variables, budget);
      return engine.render(found.templates, variables, budget);
    },
  };
}

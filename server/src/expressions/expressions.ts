import type { Json } from '../kernel/json.js';
export interface Budget {
  left: number;
}
export interface TokenView {
  readonly [name: string]: Json;
}
export interface Expressions {
  createBudget(): Budget;
  isExpression(text: string): boolean;
  evaluate(text: string, variables: Readonly<Record<string, Json>>, budget: Budget): Json | undefined;
  evaluateMask(mask: Json, variables: Readonly<Record<string, Json>>, budget: Budget): Json | undefined;
  referencesOf(text: string): { readonly id: string }[];
  evaluateWithTokens(text: string, tokens: ReadonlyMap<string, TokenView>, budget: Budget): Json | undefined;
}
export function createExpressions(): Expressions {
  const evaluate = (text: string, variables: Readonly<Record<string, Json>>): Json | undefined => {
    const m = /^\{\{ ([a-z_.0-9]+) \}\}$/.exec(text);
    if (!m) return text;
    let v: unknown = variables;
    for (const part of (m[1] ?? '').split('.')) v = (v as Record<string, unknown> | undefined)?.[part];
    return v as Json;
  };
  return {
    createBudget: () => ({ left: 0 }),
    isExpression: (t) => t.includes('{{'),
    evaluate,
    evaluateMask: (mask, v) => (typeof mask === 'string' ? evaluate(mask, v) : mask),
    referencesOf: (text) => [...text.matchAll(/\{\{([^|}]+)/g)].map((m) => ({ id: (m[1] ?? '').trim() })),
    evaluateWithTokens: (text, tokens) => tokens.get(text.replace(/[{}]/g, '').trim())?.data,
  };
}

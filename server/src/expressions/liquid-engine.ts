import type { Emitter, Template } from 'liquidjs';
import { Context, defaultOperators, Liquid, Output, toValue, toValueSync } from 'liquidjs';
import type { Budget } from './budget.js';
import { invalidExpression } from './faults.js';
import { applyOwnFilter, OWN_FILTERS } from './own-filters.js';
import { guardRanges } from './range-guard.js';
import { spendOnSearch } from './search-cost.js';
import { readCost } from './sizes.js';
import { standardFilters } from './standard-filters.js';
import { BoundedTablerow } from './tablerow.js';
import { readMember, textOf } from './values.js';

const FILE_TAGS = ['include', 'render', 'layout', 'block'];
const RENDER_UNITS = 1_000;
const STEP_UNITS = 1_200;
const WRITE_UNITS = 150;
const READ_UNITS = 150;
const ELEMENT_COMPARISON_UNITS = 60;

export interface Engine {
  parse(text: string): readonly Template[];
  /** The value of a template that is one output, with its type; else the text of all. */
  render(templates: readonly Template[], variables: Readonly<Record<string, unknown>>, budget: Budget): unknown;
}

/** Liquid with everything that loads, reads a clock, is random or is not counted taken out or replaced. */
export function createEngine(): Engine {
  const liquid = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    // An empty set of templates in memory instead of the file system, should a tag that loads ever come back.
    templates: {},
    operators: { ...defaultOperators, contains },
    timezoneOffset: 0,
    locale: 'en-US',
  });
  for (const name of FILE_TAGS) delete liquid.tags[name];
  liquid.registerTag('tablerow', BoundedTablerow);
  registerFilters(liquid);
  liquid.renderer.renderTemplates = renderTemplates;

  return {
    parse(text) {
      const templates = liquid.parse(text);
      if (text.includes('..')) guardRanges(templates, (context, units) => budgetOf(context).spend(units));
      return templates;
    },
    render(templates, variables, budget) {
      const context = new BudgetedContext(liquid, variables, budget);
      const [only] = templates;
      if (templates.length === 1 && only instanceof Output)
        return toValue(toValueSync(only.value.value(context, false)));
      return toValueSync(renderTemplates([...templates], context));
    },
  };
}

function registerFilters(liquid: Liquid): void {
  for (const name of Object.keys(liquid.filters)) liquid.unregisterFilter(name);
  for (const [name, filter] of standardFilters()) {
    liquid.registerFilter(name, function (input: unknown, ...args: readonly unknown[]) {
      const budget = budgetOf(this.context);
      budget.spend(STEP_UNITS);
      const hasNames = name !== 'default' && this.token.args.some((argument) => Array.isArray(argument));
      if (hasNames) throw invalidExpression(`The filter ${name} takes no named arguments.`);
      return filter(this, toValue(input), args.map(toValue), budget);
    });
  }
  for (const [name, filter] of OWN_FILTERS) {
    liquid.registerFilter(name, function (input: unknown, ...args: readonly unknown[]) {
      return applyOwnFilter(name, filter, input, args.map(toValue), budgetOf(this.context));
    });
  }
}

/** Made apart from the member that it is put into; see decision 54. */
function spendingOf(budget: Budget): (count: number) => void {
  return (count) => {
    if (count > 0) budget.spend(count);
  };
}

/** A class because the library makes further contexts out of one, and calls these members on all of them. */
class BudgetedContext extends Context {
  readonly budget: Budget;

  constructor(liquid: Liquid, variables: object, budget: Budget) {
    // A copy: `increment` writes into what it is given. Without a prototype, so no name means anything by itself.
    super(Object.assign(Object.create(null), variables), liquid.options, { sync: true }, { liquid });
    this.budget = budget;
    this.memoryLimit.use = spendingOf(budget);
  }

  override spawn(): Context {
    throw invalidExpression('The expression uses a construct that is not available.');
  }

  override *_getFromScope(scope: unknown, path: readonly unknown[] | string): Generator<unknown, unknown, unknown> {
    let value = scope;
    for (const key of typeof path === 'string' ? path.split('.') : path) value = yield readMember(value, key);
    this.budget.spend(READ_UNITS + readCost(value, this.budget));
    return value;
  }

  override readProperty(holder: unknown, key: unknown): unknown {
    return readMember(holder, key);
  }
}

function budgetOf(context: Context): Budget {
  if (!(context instanceof BudgetedContext)) throw new Error('a context without a budget');
  return context.budget;
}

/** The library's loop over templates, with a price for each and an output that is counted. */
function* renderTemplates(
  templates: readonly Template[],
  context: Context,
  given?: Emitter,
): Generator<unknown, string, unknown> {
  const budget = budgetOf(context);
  const emitter = given ?? createEmitter(budget);
  budget.spend(RENDER_UNITS);
  for (const template of templates) {
    budget.spend(STEP_UNITS);
    const text = yield template.render(context, emitter);
    if (text) emitter.write(text);
    if (context.breakCalled || context.continueCalled) break;
  }
  return emitter.buffer;
}

function createEmitter(budget: Budget): Emitter {
  const emitter = {
    buffer: '',
    write(value: unknown) {
      const text = textOf(value, budget);
      budget.spend(WRITE_UNITS + text.length);
      emitter.buffer += text;
    },
  };
  return emitter;
}

function contains(left: unknown, right: unknown, context: Context): ReturnType<(typeof defaultOperators)[string]> {
  const budget = budgetOf(context);
  const holder = toValue(left);
  const part = toValue(right);
  if (typeof holder === 'string') {
    const text = textOf(part, budget);
    spendOnSearch(holder, text, budget);
    return holder.includes(text);
  }
  if (!Array.isArray(holder)) return false;
  budget.spend(holder.length * ELEMENT_COMPARISON_UNITS);
  if (typeof part === 'object' && part !== null) throw invalidExpression('A list contains text, numbers or booleans.');
  if (typeof part === 'string') budget.spend((holder.length * part.length) / 8);
  return holder.includes(part);
}

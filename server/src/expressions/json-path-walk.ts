import type { Budget } from './budget.js';
import { invalidExpression } from './faults.js';
import type { Comparison, JsonPathQuery, Operand, Segment, Selector, Test } from './json-path.js';

const VISIT_UNITS = 30;
const MEMBER_UNITS = 80;
const TEST_UNITS = 60;
/** Told apart from null: a member that is there and null is a result. */
const NOTHING = Symbol('nothing');

interface Walk {
  readonly root: unknown;
  readonly budget: Budget;
}

/** Gets every value found, in document order; returning true ends the walk. */
type Visit = (value: unknown) => boolean;

/** The one value a path leads to, null for none. More than one is refused: which of them was meant is a guess. */
export function findOne(root: unknown, segments: readonly Segment[], budget: Budget): unknown {
  let found: unknown = null;
  let count = 0;
  walk({ root, budget }, root, segments, 0, (value) => {
    found = value;
    count += 1;
    return count > 1;
  });
  if (count > 1) throw invalidExpression('The JSONPath leads to several values; make it lead to one.');
  return found;
}

/** Depth first and without lists in between, so a second result ends it and memory stays flat. */
function walk(on: Walk, value: unknown, segments: readonly Segment[], at: number, visit: Visit): boolean {
  on.budget.spend(VISIT_UNITS);
  const segment = segments[at];
  if (segment === undefined) return visit(value);
  for (const selector of segment.selectors) {
    if (select(on, value, selector, (child) => walk(on, child, segments, at + 1, visit))) return true;
  }
  if (!segment.descends) return false;
  return eachChild(on, value, (child) => isContainer(child) && walk(on, child, segments, at, visit));
}

function select(on: Walk, value: unknown, selector: Selector, visit: Visit): boolean {
  switch (selector.kind) {
    case 'name':
      if (!isContainer(value) || Array.isArray(value) || !Object.hasOwn(value, selector.name)) return false;
      return visit(value[selector.name]);
    case 'index': {
      if (!Array.isArray(value)) return false;
      const index = selector.index < 0 ? value.length + selector.index : selector.index;
      return index in value && visit(value[index]);
    }
    case 'slice':
      return Array.isArray(value) && slice(on, value, selector, visit);
    case 'wildcard':
      return eachChild(on, value, visit);
    case 'filter':
      return eachChild(on, value, (child) => holds(on, selector.test, child) && visit(child));
  }
}

function slice(
  on: Walk,
  list: readonly unknown[],
  { start, end, step }: Extract<Selector, { kind: 'slice' }>,
  visit: Visit,
): boolean {
  const at = (index: number): number => (index < 0 ? list.length + index : index);
  if (step > 0) {
    const last = Math.min(at(end ?? list.length), list.length);
    for (let index = Math.max(at(start ?? 0), 0); index < last; index += step) if (visitOne(list[index])) return true;
    return false;
  }
  const last = Math.max(end === undefined ? -1 : at(end), -1);
  for (let index = Math.min(at(start ?? list.length - 1), list.length - 1); index > last; index += step) {
    if (visitOne(list[index])) return true;
  }
  return false;

  function visitOne(value: unknown): boolean {
    on.budget.spend(VISIT_UNITS);
    return visit(value);
  }
}

function eachChild(on: Walk, value: unknown, visit: Visit): boolean {
  if (!isContainer(value)) return false;
  if (Array.isArray(value)) {
    for (const child of value) {
      on.budget.spend(VISIT_UNITS);
      if (visit(child)) return true;
    }
    return false;
  }
  for (const name of Object.keys(value)) {
    on.budget.spend(MEMBER_UNITS);
    if (visit(value[name])) return true;
  }
  return false;
}

function holds(on: Walk, test: Test, current: unknown): boolean {
  on.budget.spend(TEST_UNITS);
  switch (test.kind) {
    case 'or':
      return holds(on, test.left, current) || holds(on, test.right, current);
    case 'and':
      return holds(on, test.left, current) && holds(on, test.right, current);
    case 'not':
      return !holds(on, test.test, current);
    case 'exists':
      return runQuery(on, test.query, current, () => true);
    case 'compare':
      return compare(on, test.operator, operand(on, test.left, current), operand(on, test.right, current));
  }
}

function runQuery(on: Walk, query: JsonPathQuery, current: unknown, visit: Visit): boolean {
  return walk(on, query.isFromRoot ? on.root : current, query.segments, 0, visit);
}

/** A query in a comparison stands for its value if there is exactly one. */
function operand(on: Walk, given: Operand, current: unknown): unknown {
  if ('literal' in given) return given.literal;
  let found: unknown = NOTHING;
  const isSeveral = runQuery(on, given.query, current, (value) => {
    if (found !== NOTHING) return true;
    found = value;
    return false;
  });
  return isSeveral ? NOTHING : found;
}

function compare(on: Walk, operator: Comparison, left: unknown, right: unknown): boolean {
  if (typeof left === 'string') on.budget.spend(left.length >> 3);
  switch (operator) {
    case '==':
      return isEqual(on, left, right);
    case '!=':
      return !isEqual(on, left, right);
    case '<':
      return isLess(left, right);
    case '>':
      return isLess(right, left);
    case '<=':
      return isLess(left, right) || isEqual(on, left, right);
    case '>=':
      return isLess(right, left) || isEqual(on, left, right);
  }
}

function isLess(left: unknown, right: unknown): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left < right;
  return typeof left === 'string' && typeof right === 'string' && left < right;
}

function isEqual(on: Walk, left: unknown, right: unknown): boolean {
  on.budget.spend(VISIT_UNITS + (typeof left === 'string' ? left.length >> 3 : 0));
  if (left === right) return true;
  if (!isContainer(left) || !isContainer(right) || Array.isArray(left) !== Array.isArray(right)) return false;
  const names = Object.keys(left);
  on.budget.spend(names.length);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && isEqual(on, left[name], right[name]));
}

type Container = Readonly<Record<string, unknown>>;

/** Lists are read by index and objects by name, both through the same own members. */
function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);
}

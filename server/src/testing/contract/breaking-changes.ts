import type { DocumentObject } from './document.js';
import type { Bound, Shape } from './shape.js';
import { alternativesByType, isJson, shapeOf } from './shape.js';

/** Something that worked with the earlier document and may not with the later one. */
export interface BreakingChange {
  /** `POST /tokens` */
  readonly operation: string;
  /** The member of body, parameters or answer it is about; empty for the whole operation. */
  readonly field: string;
  readonly what: string;
}

type Side = 'request' | 'response';

interface Comparison {
  readonly earlier: DocumentObject;
  readonly later: DocumentObject;
  readonly operation: string;
  readonly side: Side;
  readonly changes: BreakingChange[];
}

const LEVELS_MAX = 6;
const EVERY_TYPE = ['string', 'number', 'boolean', 'null', 'array', 'object'];

/** Everything that a client of the earlier document may stumble over. What is only added breaks nobody. */
export function breakingChanges(earlier: DocumentObject, later: DocumentObject): BreakingChange[] {
  const changes: BreakingChange[] = [];
  compareSchemes(changes, earlier, later);
  const now = operationsOf(later);
  for (const [operation, before] of operationsOf(earlier)) {
    const after = now.get(operation);
    if (!after) changes.push({ operation, field: '', what: 'is gone' });
    else compareOperation({ earlier, later, operation, side: 'request', changes }, before, after);
  }
  return changes;
}

/** Where a credential is sent. */
function compareSchemes(changes: BreakingChange[], earlier: DocumentObject, later: DocumentObject): void {
  const schemesOf = ({ components }: DocumentObject) =>
    Object.values(memberOf(isJson(components) ? components : {}, 'securitySchemes') ?? {})
      .filter(isJson)
      .map((scheme) => `${scheme.in} ${scheme.name}`);
  const still = schemesOf(later);
  for (const scheme of schemesOf(earlier)) {
    if (!still.includes(scheme)) changes.push({ operation: 'every operation', field: scheme, what: 'is not read' });
  }
}

function operationsOf({ paths }: DocumentObject): Map<string, DocumentObject> {
  const operations = Object.entries(isJson(paths) ? paths : {}).flatMap(([path, methods]) =>
    Object.entries(isJson(methods) ? methods : {}).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, isJson(operation) ? operation : {}] as const,
    ),
  );
  return new Map(operations);
}

function compareOperation(comparison: Comparison, before: DocumentObject, after: DocumentObject): void {
  const { operation, changes } = comparison;
  const add = (field: string, what: string) => changes.push({ operation, field, what });
  const [asked = 'none', asks = 'none'] = [before['x-permission'], after['x-permission']];
  if (asked !== asks) add('', `asks for ${asks}, not ${asked}`);
  const [callers, mayCall] = [before['x-application-types'], after['x-application-types']];
  for (const type of Array.isArray(callers) && Array.isArray(mayCall) ? callers : []) {
    if (Array.isArray(mayCall) && !mayCall.includes(type)) add('', `is not for ${type} Applications any more`);
  }
  compareParameters(comparison, before, after);
  const [taken, takes] = [memberOf(before, 'requestBody'), memberOf(after, 'requestBody')];
  if (takes?.required === true && taken?.required !== true) add('', 'needs a body');
  compareContents(comparison, taken, takes);
  const [successBefore, successAfter] = [successOf(before), successOf(after)];
  if (successBefore.status !== successAfter.status)
    add('', `answers ${successAfter.status}, not ${successBefore.status}`);
  compareContents({ ...comparison, side: 'response' }, successBefore.response, successAfter.response);
}

function compareContents(
  comparison: Comparison,
  before: DocumentObject | undefined,
  after: DocumentObject | undefined,
): void {
  for (const [type, content] of Object.entries(memberOf(before, 'content') ?? {})) {
    const still = memberOf(memberOf(after, 'content'), type);
    if (!still)
      comparison.changes.push({ operation: comparison.operation, field: '', what: `has no ${type} any more` });
    else compareSchemas(comparison, schemasIn(content), schemasIn(still), '', 0);
  }
}

function compareParameters(comparison: Comparison, before: DocumentObject, after: DocumentObject): void {
  const named = ({ parameters }: DocumentObject) =>
    (Array.isArray(parameters) ? parameters : []).filter(isJson).map((one) => [`${one.in} ${one.name}`, one] as const);
  const [known, now] = [new Map(named(before)), new Map(named(after))];
  const add = (one: DocumentObject, what: string) =>
    comparison.changes.push({ operation: comparison.operation, field: String(one.name), what });
  for (const [name, one] of known) {
    const still = now.get(name);
    if (!still) add(one, 'is no parameter any more');
    else compareSchemas(comparison, schemasIn(one), schemasIn(still), String(one.name), 0);
  }
  for (const [name, one] of now) {
    if (one.required === true && known.get(name)?.required !== true) add(one, 'is a required parameter');
  }
}

function compareSchemas(
  comparison: Comparison,
  before: readonly DocumentObject[],
  after: readonly DocumentObject[],
  field: string,
  level: number,
): void {
  if (level > LEVELS_MAX) return;
  const [kinds, kindsNow] = [
    alternativesByType(before, comparison.earlier),
    alternativesByType(after, comparison.later),
  ];
  if (kinds && kindsNow) {
    for (const [kind, schemas] of kinds) {
      const still = kindsNow.get(kind);
      const at = field === '' ? kind : `${field} ${kind}`;
      if (still) compareSchemas(comparison, schemas, still, at, level + 1);
      else comparison.changes.push({ operation: comparison.operation, field: at, what: 'is gone' });
    }
    return;
  }
  const [was, is] = [shapeOf(before, comparison.earlier), shapeOf(after, comparison.later)];
  const add = (name: string, what: string) =>
    comparison.changes.push({ operation: comparison.operation, field: name, what });
  for (const what of valueChanges(comparison.side, was, is)) add(field, what);
  const named = (name: string) => (field === '' ? name : `${field}.${name}`);
  for (const [name, schemas] of was.properties) {
    const still = is.properties.get(name) ?? is.others;
    if (still === undefined || still.length === 0) add(named(name), 'is gone');
    else compareSchemas(comparison, schemas, still, named(name), level + 1);
  }
  for (const name of comparison.side === 'request' ? is.required : was.required) {
    if (comparison.side === 'request' && !was.required.has(name)) add(named(name), 'is required');
    if (comparison.side === 'response' && !is.required.has(name)) add(named(name), 'is not always there');
  }
  if (comparison.side === 'request' && is.others?.length === 0 && was.others?.length !== 0)
    add(field, 'takes no others');
  if (was.items.length > 0 && is.items.length > 0) {
    compareSchemas(comparison, was.items, is.items, `${field}[]`, level + 1);
  }
  if (is.names.length > 0 && comparison.side === 'request') {
    compareSchemas(
      comparison,
      was.names.length > 0 ? was.names : [{ type: 'string' }],
      is.names,
      `${field} names`,
      level + 1,
    );
  }
}

/** A request must take what it took; an answer must be what it could be. */
function valueChanges(side: Side, was: Shape, is: Shape): string[] {
  const [wide, narrow] = side === 'request' ? [is, was] : [was, is];
  const changes: string[] = [];
  if (!coversTypes(wide.types, narrow.types)) changes.push(`is ${listed(is.types)}, not ${listed(was.types)}`);
  const lost = [...(was.choices ?? [])].filter((choice) => is.choices && !is.choices.has(choice));
  if (lost.length > 0) changes.push(`is never ${lost.join(', ')}`);
  if (side === 'response') return changes;
  if (is.choices && !was.choices && was.types?.has('string')) changes.push(`is one of ${[...is.choices].join(', ')}`);
  for (const [bound, value] of is.bounds) {
    if (isTighter(bound, value, was.bounds.get(bound)) && was.types !== undefined)
      changes.push(`has ${bound} ${value}`);
  }
  const isOther = was.defaults.size > 0 && [...was.defaults].some((value) => !is.defaults.has(value));
  if (isOther) changes.push(`is ${[...is.defaults].join(' or ') || 'nothing'} where it is left out`);
  const isNewPattern = is.patterns && [...is.patterns].some((pattern) => !was.patterns?.has(pattern));
  if (isNewPattern && was.types?.has('string')) changes.push('has a pattern');
  return changes;
}

function coversTypes(wide: Shape['types'], narrow: Shape['types']): boolean {
  if (wide === undefined) return true;
  if (narrow === undefined) return EVERY_TYPE.every((type) => wide.has(type));
  return [...narrow].every((type) => wide.has(type) || (type === 'integer' && wide.has('number')));
}

function isTighter(bound: Bound, value: number, before: number | undefined): boolean {
  // These say nothing that was not said by the type.
  if (before === undefined) return !(bound.startsWith('min') && value === 0);
  return bound.startsWith('min') ? value > before : value < before;
}

function listed(types: Shape['types']): string {
  return types === undefined ? 'anything' : [...types].sort().join(' or ');
}

function successOf({ responses }: DocumentObject): { status: string; response: DocumentObject | undefined } {
  const [status = '', response] =
    Object.entries(isJson(responses) ? responses : {}).find(([each]) => Number(each) < 300) ?? [];
  return { status, response: isJson(response) ? response : undefined };
}

function schemasIn(content: unknown): DocumentObject[] {
  const schema = isJson(content) ? content.schema : undefined;
  return isJson(schema) ? [schema] : [{}];
}

function memberOf(owner: DocumentObject | undefined, name: string): DocumentObject | undefined {
  const member = owner?.[name];
  return isJson(member) ? member : undefined;
}

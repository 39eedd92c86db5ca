import type { DocumentObject } from './document.js';

/** What values a schema takes, as far as changes to it are told: all its alternatives in one view, the widest of each bound. */
export interface Shape {
  /** Undefined: any. */
  readonly types: ReadonlySet<string> | undefined;
  /** Undefined: any text. */
  readonly choices: ReadonlySet<string> | undefined;
  /** Smallest and largest by keyword: `maxLength`. Absent: no bound. */
  readonly bounds: ReadonlyMap<Bound, number>;
  /** Of text, where every alternative has one. */
  readonly patterns: ReadonlySet<string> | undefined;
  readonly properties: ReadonlyMap<string, readonly DocumentObject[]>;
  /** In every alternative that is an object. */
  readonly required: ReadonlySet<string>;
  /** What other members are: absent if there may be any, empty if there may be none. */
  readonly others: readonly DocumentObject[] | undefined;
  readonly items: readonly DocumentObject[];
  /** What the names of members are, where that is said. */
  readonly names: readonly DocumentObject[];
  /** What it is where it is left out, as JSON. */
  readonly defaults: ReadonlySet<string>;
}

export const BOUNDS = {
  minLength: 'string',
  maxLength: 'string',
  minimum: 'number',
  maximum: 'number',
  minItems: 'array',
  maxItems: 'array',
  maxProperties: 'object',
} as const;
export type Bound = keyof typeof BOUNDS;

const DEPTH_MAX = 8;

/** Looks at all alternatives of the given schemas; `document` has what they refer to. */
export function shapeOf(nodes: readonly DocumentObject[], document: DocumentObject): Shape {
  const all = nodes.flatMap((node) => alternativesOf(node, document, 0));
  const texts = all.filter((one) => mayBe(one, 'string'));
  const objects = all.filter((one) => mayBe(one, 'object'));
  return {
    types: all.some((one) => typesOf(one) === undefined)
      ? undefined
      : new Set(all.flatMap((one) => typesOf(one) ?? [])),
    choices: union(texts.map(choicesOf)),
    bounds: boundsOf(all),
    patterns: union(texts.map(({ pattern }) => (typeof pattern === 'string' ? [pattern] : undefined))),
    properties: propertiesOf(objects),
    required: new Set(namesIn(objects[0]?.required).filter((name) => objects.every((one) => isRequired(one, name)))),
    others: othersOf(objects),
    items: all.flatMap(({ items }) => (isJson(items) ? [items] : [])),
    names: objects.flatMap(({ propertyNames }) => (isJson(propertyNames) ? [propertyNames] : [])),
    defaults: new Set(all.flatMap(({ default: value }) => (value === undefined ? [] : [JSON.stringify(value)]))),
  };
}

/** Alternatives told apart by the one choice of their `type`; undefined for anything else. */
export function alternativesByType(
  nodes: readonly DocumentObject[],
  document: DocumentObject,
): ReadonlyMap<string, readonly DocumentObject[]> | undefined {
  const kinds = new Map<string, DocumentObject[]>();
  const all = nodes.flatMap((node) => alternativesOf(node, document, 0));
  for (const one of all) {
    const type = isJson(one.properties) ? one.properties.type : undefined;
    const [kind, ...others] = isJson(type) ? (shapeOf([type], document).choices ?? []) : [];
    if (kind === undefined || others.length > 0) return undefined;
    kinds.set(kind, [...(kinds.get(kind) ?? []), one]);
  }
  return kinds.size > 1 ? kinds : undefined;
}

function alternativesOf(node: DocumentObject, document: DocumentObject, depth: number): DocumentObject[] {
  if (depth > DEPTH_MAX) return [{}];
  if (typeof node.$ref === 'string') return alternativesOf(referred(node.$ref, document), document, depth + 1);
  const choices = node.oneOf ?? node.anyOf;
  if (Array.isArray(choices)) return choices.flatMap((choice) => alternativesOf(choice, document, depth + 1));
  // Of parts that all must hold the first says the most; our documents add only what is required to it.
  if (Array.isArray(node.allOf)) {
    const { default: value } = node;
    const first = alternativesOf(node.allOf[0], document, depth + 1);
    return value === undefined ? first : first.map((one) => ({ ...one, default: value }));
  }
  return [node];
}

function referred(reference: string, document: DocumentObject): DocumentObject {
  const found = reference
    .split('/')
    .slice(1)
    .reduce<unknown>((owner, name) => (isJson(owner) ? owner[name] : undefined), document);
  if (!isJson(found)) throw new Error(`the document has no ${reference}`);
  return found;
}

function typesOf({ type, properties, enum: choices }: DocumentObject): string[] | undefined {
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.map(String);
  if (Array.isArray(choices)) return choices.map((choice) => (choice === null ? 'null' : typeof choice));
  return properties === undefined ? undefined : ['object'];
}

function mayBe(node: DocumentObject, type: string): boolean {
  return typesOf(node)?.some((one) => one === type || (type === 'number' && one === 'integer')) ?? true;
}

function choicesOf({ enum: choices, const: only }: DocumentObject): string[] | undefined {
  if (only !== undefined) return [String(only)];
  return Array.isArray(choices) ? choices.map(String) : undefined;
}

/** All of them together; undefined if one of them is without end. */
function union(sets: readonly (readonly string[] | undefined)[]): ReadonlySet<string> | undefined {
  if (sets.length === 0 || sets.includes(undefined)) return undefined;
  return new Set(sets.flatMap((set) => set ?? []));
}

function boundsOf(all: readonly DocumentObject[]): Map<Bound, number> {
  const bounds = new Map<Bound, number>();
  for (const bound of Object.keys(BOUNDS) as Bound[]) {
    const values = all.filter((one) => mayBe(one, BOUNDS[bound])).map((one) => one[bound]);
    const numbers = values.filter((value) => typeof value === 'number');
    if (numbers.length === 0 || numbers.length < values.length) continue;
    bounds.set(bound, bound.startsWith('min') ? Math.min(...numbers) : Math.max(...numbers));
  }
  return bounds;
}

function propertiesOf(objects: readonly DocumentObject[]): Map<string, DocumentObject[]> {
  const properties = new Map<string, DocumentObject[]>();
  for (const object of objects) {
    for (const [name, schema] of Object.entries(isJson(object.properties) ? object.properties : {})) {
      properties.set(name, [...(properties.get(name) ?? []), isJson(schema) ? schema : {}]);
    }
  }
  return properties;
}

function othersOf(objects: readonly DocumentObject[]): readonly DocumentObject[] | undefined {
  const each = objects.map(({ additionalProperties: others = true }) => others);
  if (each.length === 0 || each.some((others) => others === true)) return undefined;
  return each.filter(isJson);
}

function isRequired(object: DocumentObject, name: string): boolean {
  return namesIn(object.required).includes(name);
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

export function isJson(value: unknown): value is DocumentObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The parts of our OpenAPI document that inputs are made from. */
export interface Document {
  readonly operations: readonly Operation[];
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  /** As the document says who may: a permission, a kind of key, or undefined for everybody. */
  readonly permission: string | undefined;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}

export interface Schema {
  readonly $ref?: string;
  /** Alternatives. Read documents have none: see `resolve`. */
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly properties?: Readonly<Record<string, Schema>>;
  /** What a map holds; or whether an object may hold more than is named. */
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
}

interface RawOperation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly 'x-permission'?: string;
}

interface RawDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const OPERATIONS_MIN = 30;

/** Reads the document the running product serves, with every reference replaced by what it stands for. */
export function readDocument(served: unknown): Document {
  const { paths, components } = served as RawDocument; // Ours; the count below fails if it were not.
  const resolve = resolverOf(components.schemas);
  const operations = Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => {
      const content = operation.requestBody?.content['application/json'];
      return {
        method: method.toUpperCase(),
        path,
        permission: operation['x-permission'] === 'none' ? undefined : operation['x-permission'],
        parameters: operation.parameters ?? [],
        body: content && resolve(content.schema),
      };
    }),
  );
  if (operations.length < OPERATIONS_MIN) throw new Error(`the document has only ${operations.length} operations`);
  return { operations };
}

/**
 * Puts what it stands for in place of each reference, and one schema in place of alternatives. What refers to itself is any
 * JSON, which needs no schema.
 */
function resolverOf(known: Readonly<Record<string, Schema>>): (schema: Schema) => Schema {
  const resolveAll = (schemas: Readonly<Record<string, Schema>>): Record<string, Schema> =>
    Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, resolve(schema)]));
  function resolve(schema: Schema): Schema {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.split('/').at(-1) ?? '';
      const named = known[name];
      if (named === undefined) throw new Error(`the document has no ${schema.$ref}`);
      return refersTo(named, name, known, new Set()) ? {} : resolve(named);
    }
    const choices = (schema.oneOf ?? schema.anyOf)?.filter(({ type }) => type !== 'null');
    if (choices !== undefined) return merged(choices.map(resolve));
    return {
      ...schema,
      ...(schema.items && { items: resolve(schema.items) }),
      ...(schema.properties && { properties: resolveAll(schema.properties) }),
      ...(isMap(schema) && { additionalProperties: resolve(schema.additionalProperties) }),
    };
  }
  return resolve;
}

function refersTo(node: unknown, name: string, known: Readonly<Record<string, Schema>>, seen: Set<string>): boolean {
  if (typeof node !== 'object' || node === null) return false;
  const { $ref } = node as Schema; // Read as what a schema may have.
  const target = typeof $ref === 'string' ? ($ref.split('/').at(-1) ?? '') : undefined;
  if (target === name) return true;
  if (target !== undefined && !seen.has(target)) return refersTo(known[target], name, known, seen.add(target));
  return Object.values(node).some((member) => refersTo(member, name, known, seen));
}

/** One schema with the fields and the choices of all: each place is found, and a right value is one of the first's. */
function merged([first = {}, ...others]: readonly Schema[]): Schema {
  let schema = first;
  for (const other of others) schema = mergedPair(schema, other);
  return schema;
}

function mergedPair(one: Schema, other: Schema): Schema {
  const names = new Set([...Object.keys(one.properties ?? {}), ...Object.keys(other.properties ?? {})]);
  const properties = [...names].map((name) => {
    const [own, more] = [one.properties?.[name], other.properties?.[name]];
    return [name, own && more ? mergedPair(own, more) : (own ?? more ?? {})] as const;
  });
  return {
    ...one,
    ...(one.enum && other.enum && { enum: [...new Set([...one.enum, ...other.enum])] }),
    ...(names.size > 0 && { properties: Object.fromEntries(properties) }),
    ...(one.required && { required: one.required.filter((name) => other.required?.includes(name)) }),
  };
}

/** A place that takes a value. */
export interface Slot {
  readonly in: 'path' | 'query' | 'header' | 'body';
  readonly name: string;
  /** Inside the body. */
  readonly path: readonly (string | number)[];
  readonly schema: Schema;
}

/** Every place of an operation, those nested in its body included, and the body itself. */
export function slotsOf({ parameters, body }: Operation): Slot[] {
  const places: Slot[] = parameters.map(({ name, in: where, schema }) => ({ in: where, name, path: [], schema }));
  return body === undefined ? places : [...places, ...bodySlots(body, [])];
}

function bodySlots(schema: Schema, path: readonly (string | number)[]): Slot[] {
  const name = String(path.findLast((step) => typeof step === 'string') ?? '$');
  const own: Slot = { in: 'body', name, path, schema };
  const members = Object.entries(schema.properties ?? {}).flatMap(([member, inner]) =>
    bodySlots(inner, [...path, member]),
  );
  const free = isMap(schema) ? bodySlots(schema.additionalProperties, [...path, 'k']) : [];
  return [own, ...members, ...free, ...(schema.items ? bodySlots(schema.items, [...path, 0]) : [])];
}

function isMap(schema: Schema): schema is Schema & { readonly additionalProperties: Schema } {
  return typeof schema.additionalProperties === 'object';
}

import { assert } from '../../kernel/assert.js';
import { ERROR_MESSAGE, orNull } from '../routes/schema.js';

export type SchemaObject = Record<string, unknown>;

/** Formats the server checks and no other program knows; the document states them in words. */
export const OWN_FORMATS: Readonly<Record<string, string>> = {
  text: 'Text holds neither U+0000 nor half of a surrogate pair.',
  name: 'A name is not blank, and holds neither U+0000 nor half of a surrogate pair.',
  'iso-date': 'A date is a complete ISO 8601 date or date-time.',
};

export interface PublishOptions {
  /** Components by name, to which titled schemas are added. */
  readonly schemas: SchemaObject;
  /** In bodies that are read by their schema, null means the same as absent. */
  readonly nullsAreAbsent?: boolean;
}

/**
 * A copy fit for the document: titled schemas become components, our own notes and formats are left out, and what generators
 * of clients look for is spelled out.
 */
export function publish(node: unknown, options: PublishOptions): unknown {
  if (Array.isArray(node)) return node.map((member) => publish(member, options));
  if (!isJson(node)) return node;
  const copy: SchemaObject = {};
  for (const [name, member] of Object.entries(node)) {
    if (name === 'properties') copy[name] = publishedProperties(node, member, options);
    else if (!isInternal(name, member)) copy[name] = name === 'default' ? member : publish(member, options);
  }
  if (Array.isArray(copy.enum)) copy.type = 'string';
  if (copy.patternProperties !== undefined) {
    copy.additionalProperties = mapValueOf(copy.patternProperties);
    delete copy.patternProperties;
  }
  return typeof node.title === 'string' ? component(node.title, copy, options.schemas) : copy;
}

/** Adds a schema under its name. One name with two meanings would be a fault of ours. */
export function component(name: string, schema: SchemaObject, schemas: SchemaObject): SchemaObject {
  const known = schemas[name];
  const isSame = known === undefined || JSON.stringify(known) === JSON.stringify(schema);
  assert(isSame, `the schema ${name} means one thing everywhere`);
  schemas[name] = schema;
  return { $ref: `#/components/schemas/${name}` };
}

function isInternal(name: string, member: unknown): boolean {
  return (
    name === ERROR_MESSAGE || name === 'title' || (name === 'format' && Object.hasOwn(OWN_FORMATS, String(member)))
  );
}

/** Apart from the walk above, because a field may be called `title` or `format`. */
function publishedProperties(owner: SchemaObject, properties: unknown, options: PublishOptions): SchemaObject {
  const required = Array.isArray(owner.required) ? owner.required : [];
  const entries = Object.entries(properties as SchemaObject).map(([name, schema]) => {
    const published = publish(schema, options) as SchemaObject; // A published schema is an object.
    return [name, options.nullsAreAbsent && !required.includes(name) ? orNull(published) : published] as const;
  });
  return Object.fromEntries(entries);
}

function isJson(node: unknown): node is SchemaObject {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}

/** Our maps take any key: a generator makes a map of this, and nothing of a pattern. */
function mapValueOf(patternProperties: unknown): unknown {
  const [value, ...others] = Object.values(patternProperties as SchemaObject); // A published schema has an object here.
  assert(others.length === 0, 'a map has values of one kind');
  return value;
}

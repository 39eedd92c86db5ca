/** A schema of the API document: the few keywords that it uses. */
export interface DocumentSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly DocumentSchema[];
  readonly oneOf?: readonly DocumentSchema[];
  readonly allOf?: readonly DocumentSchema[];
  readonly items?: DocumentSchema;
  readonly properties?: Readonly<Record<string, DocumentSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | DocumentSchema;
}

const PLAIN: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** A schema as a type of TypeScript. */
export function typeOf(schema: DocumentSchema | undefined): string {
  if (schema === undefined) return 'unknown';
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(inner).join(' | ');
  if (schema.allOf) return schema.allOf.map(inner).join(' & ');
  if (schema.type === 'array') return `readonly ${inner(schema.items)}[]`;
  if (schema.type === 'object' || schema.properties) return objectOf(schema);
  return PLAIN[schema.type ?? ''] ?? 'unknown';
}

function inner(schema: DocumentSchema | undefined): string {
  const text = typeOf(schema);
  return /[|&]|^readonly /.test(text) && !text.startsWith('{') ? `(${text})` : text;
}

function objectOf({ properties = {}, required = [], additionalProperties }: DocumentSchema): string {
  const members = Object.entries(properties).map(([name, schema]) => {
    const isNeeded = required.includes(name);
    return `readonly ${keyOf(name)}${isNeeded ? '' : '?'}: ${typeOf(schema)}${isNeeded ? '' : ' | undefined'}`;
  });
  if (typeof additionalProperties === 'object') {
    members.push(`readonly [name: string]: ${members.length > 0 ? 'unknown' : typeOf(additionalProperties)}`);
  }
  return members.length === 0 ? 'Readonly<Record<string, unknown>>' : `{ ${members.join('; ')} }`;
}

function keyOf(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

/** The name of a component, as a type may be called. */
export function nameOf(reference: string): string {
  return (reference.split('/').at(-1) ?? '').replace(/\W/g, '_');
}

import type { DocumentSchema } from './types-of.js';
import { nameOf, typeOf } from './types-of.js';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: DocumentSchema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { schema?: DocumentSchema }>>;
  };
  readonly responses: Readonly<Record<string, { content?: Readonly<Record<string, { schema?: DocumentSchema }>> }>>;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, DocumentSchema>> };
}

const HEAD = '// Made by `npm run openapi` from the API documents. Change the routes, not this file.\n';
const JSON_TYPE = 'application/json';

/** The types of every call in the documents, by method and path. */
export function clientOf(documents: readonly ApiDocument[]): string {
  const schemas = new Map(documents.flatMap(({ components }) => Object.entries(components.schemas)));
  const types = [...schemas].sort(byName).map(([name, schema]) => `export type ${nameOf(name)} = ${typeOf(schema)};`);
  const calls = documents.flatMap(({ paths }) =>
    Object.entries(paths).flatMap(([path, methods]) => callsOf(path, methods)),
  );
  return `${HEAD}${types.join('\n')}\n\nexport interface Calls {\n${calls.sort().join('\n')}\n}\n`;
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function callsOf(path: string, methods: Readonly<Record<string, Operation>>): string[] {
  return Object.entries(methods).map(
    ([method, operation]) => `  '${method.toUpperCase()} ${path}': ${callOf(operation)};`,
  );
}

function callOf({ parameters = [], requestBody, responses }: Operation): string {
  const parts = [
    `params: ${membersOf(parameters.filter((each) => each.in === 'path'))}`,
    `query: ${membersOf(parameters.filter((each) => each.in === 'query'))}`,
    `body: ${requestBody ? typeOf(requestBody.content[JSON_TYPE]?.schema) : 'undefined'}`,
    `answer: ${answerOf(responses)}`,
  ];
  return `{ ${parts.join('; ')} }`;
}

function membersOf(parameters: readonly Parameter[]): string {
  const members = parameters.map(({ name, required, schema }) => {
    return `readonly ${JSON.stringify(name)}${required ? '' : '?'}: ${typeOf(schema)}${required ? '' : ' | undefined'}`;
  });
  return `{ ${members.join('; ')} }`;
}

function answerOf(responses: Operation['responses']): string {
  const found = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const types = found.map(([, { content }]) => (content ? typeOf(schemaOf(content)) : 'undefined'));
  return [...new Set(types)].join(' | ') || 'undefined';
}

/** Of a stream: what one event or line of it is. */
function schemaOf(content: Readonly<Record<string, { schema?: DocumentSchema }>>): DocumentSchema | undefined {
  return (content[JSON_TYPE] ?? Object.values(content)[0])?.schema;
}

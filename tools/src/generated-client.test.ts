// needs: processes

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import openapiTS, { astToString } from 'openapi-typescript';

const DOCUMENT_FILE = 'openapi/openapi.json';
const COMPILER = resolve('node_modules/typescript/bin/tsc');
const STRICT = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes', '--noEmit'];
const TARGET = ['--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom', '--types', ''];

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

/** A client as one writes it around the generated types: no cast, and no type of its own for any operation. */
const CALLER = `import type { operations } from "./strongroom.js";

type Content<T> = T extends { content: infer C } ? C[keyof C] : undefined;
type Success<R> = { [S in keyof R]: S extends 200 | 201 | 202 | 204 ? Content<R[S]> : never }[keyof R];
type Failure<R> = { [S in keyof R]: S extends 200 | 201 | 202 | 204 ? never : Content<R[S]> }[keyof R];
type Body<O> = O extends { requestBody: { content: infer C } } ? { body: C[keyof C] }
  : O extends { requestBody?: { content: infer C } } ? { body?: C[keyof C] } : { body?: never };
type Input<O extends { parameters: unknown }> = Body<O> & { parameters: O['parameters'] };

export type Call = <Id extends keyof operations>(id: Id, input: Input<operations[Id]>) => Promise<
  | { ok: true; body: Success<operations[Id]['responses']> }
  | { ok: false; problem: Failure<operations[Id]['responses']> }
>;
export type BodyOf<Id extends keyof operations> = Body<operations[Id]>['body'];
`;

/** What a program does with answers, and what the compiler must hold it back from. */
const USES = `import type { BodyOf, Call } from "./caller.js";

export async function use(call: Call): Promise<string | undefined> {
  const made = await call('post_tokens', { parameters: {}, body: { type: 'card', data: { number: '4242424242424242' } } });
  if (!made.ok) return made.problem.code === 'access_denied' ? made.problem.detail : undefined;
  const { id, containers, metadata } = made.body;
  const page = await call('get_v2_tokens', { parameters: { query: { size: 5, container: containers } } });
  if (page.ok) for (const token of page.body.data) if (token.type === 'card') return token.expires_at;
  await call('patch_tokens_id', { parameters: { path: { id } }, body: { metadata: { gone: null }, expires_at: null } });
  await call('post_tokenize', { parameters: {}, body: { name: 'Ada', card: { type: 'card_number', data: '4242424242424242' } } });
  await call('post_tokens_search', { parameters: {}, body: { query: 'type:card' } });
  return metadata?.['customer'];
}

export const minimal: BodyOf<'post_tokens'> = { data: [1, 'two', { three: null }] };
export const application: BodyOf<'post_applications'> = { name: 'A', type: 'private', rules: [{ priority: 1, container: '/', permissions: [] }] };
// @ts-expect-error: notes on encryption are an object
export const note: BodyOf<'post_tokens'> = { data: 1, encryption: 'note' };
// @ts-expect-error: a card has a number
export const card: BodyOf<'post_tokens'> = { type: 'card', data: 'x' };
// @ts-expect-error: there is no such type
export const unknown: BodyOf<'post_tokens'> = { type: 'purse', data: 'x' };
// @ts-expect-error: data is required
export const empty: BodyOf<'post_tokens'> = { type: 'token' };
`;

describe('a TypeScript client generated from the API document', () => {
  let folder: string;
  let operations: Operation[];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strongroom-client-'));
    const document = JSON.parse(await readFile(DOCUMENT_FILE, 'utf8'));
    operations = Object.values<Record<string, Operation>>(document.paths).flatMap((methods) => Object.values(methods));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, 'strongroom.d.ts'), astToString(await openapiTS(document)));
    await writeFile(join(folder, 'caller.ts'), CALLER);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const compile = (file: string): string => {
    const { stdout, stderr } = spawnSync(process.execPath, [COMPILER, ...STRICT, ...TARGET, file], {
      cwd: folder,
      encoding: 'utf8',
    });
    return stdout + stderr;
  };

  it('compiles, and calls every operation with its example without a cast', async () => {
    assert.ok(operations.length > 30);
    const calls = operations.map(
      (operation) => `  await call(${JSON.stringify(operation.operationId)}, ${inputOf(operation)});`,
    );
    const program = [
      'import type { Call } from "./caller.js";',
      'export async function all(call: Call) {',
      ...calls,
      '}',
      '',
    ];
    await writeFile(join(folder, 'all.ts'), program.join('\n'));
    assert.equal(compile('all.ts'), '');
  });

  it('has answers typed, lets fields with defaults be left out and null remove, and refuses what the server would', async () => {
    await writeFile(join(folder, 'uses.ts'), USES);
    assert.equal(compile('uses.ts'), '');
  });
});

/** The example of the body, and an id for each parameter of the path. */
function inputOf({ parameters, requestBody }: Operation): string {
  const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => [name, 'x'] as const);
  const body = Object.values(requestBody?.content ?? {})[0]?.example;
  return JSON.stringify({
    parameters: { ...(inPath.length > 0 && { path: Object.fromEntries(inPath) }) },
    ...(requestBody && { body }),
  });
}

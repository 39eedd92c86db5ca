import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isTest, readSources } from './sources.js';

/** `it.member = () => …`, also with a type, and `function`; a field that is declared is none. */
const WRITTEN_INTO_MEMBER =
  /^\s*(?:[\w$]+\??[.!]?\.)*[\w$]+(?:\.[\w$#]+)+ (?:\?\?|\|\|)?= (?:async )?(?:function\b|[\w$]+ =>|\([^()]*\)(?:: [^=]+)? =>)/;

/** What runs beside requests, and seldom. */
const BESIDE_REQUESTS = /^(?:jobs|mail|workers|testing|sandbox\/attacks|resources\/reactors\/queue)\//;

it('a function that is made for a request is not written where it becomes a member: it would be old from the start, with all that it holds', async () => {
  const found = (await readSources())
    .filter(({ path }) => !isTest(path) && !BESIDE_REQUESTS.test(path))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, at) => (WRITTEN_INTO_MEMBER.test(line) ? [`${path}:${at + 1} ${line.trim()}`] : [])),
    );
  assert.deepEqual(found, []);
});

it('knows such a function when it sees one', () => {
  const lines = [
    'context.isStillAllowed = () => ask(exchange);',
    '      this.#onRoom = () => {',
    '    this.run = (statement, values) => {',
    '    this.memoryLimit.use = (count) => {',
    '  driver.query = function (this: unknown) {',
    '  a.b.c ??= async (one: string): Promise<void> => {',
    '  a.b = one => one;',
  ];
  for (const line of lines) assert.match(line, WRITTEN_INTO_MEMBER, line);
  const others = [
    '  readonly #pump = (): void => {',
    '  #endRest = (): void => {};',
    '    const leave = (): void => {',
    '  this.#onRoom = leave;',
    '  context.isStillAllowed = askingAgain(identify, exchange, principal);',
    '    list: () => list,',
    '  a.b = c(() => d);',
  ];
  for (const line of others) assert.doesNotMatch(line, WRITTEN_INTO_MEMBER, line);
});

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Bindings, examplesIn, unfolded } from './page-examples.js';

const PAGE = `Text.

\`\`\`
$ curl -s $URL -d '{"a":
    1}' \\
    -H x
{"id":"11111111-1111-4111-8111-111111111111",
 "b":2}

KEY=key_mgt_hTQb0H8U9CIgVegkYEtKfqxrSx1P3hFd
\`\`\`

<!-- not run: nobody has that host -->
\`\`\`
$ strongroom migrate
Applied: one.
$ next
\`\`\`

\`\`\`json
{ "no": "example" }
\`\`\`
`;

it('examples are read with their whole command and what is shown of the answer', () => {
  const [first, key, migrate, next, ...more] = examplesIn('p', PAGE);
  const common = { page: 'p', setup: undefined };
  assert.deepEqual(first, {
    ...common,
    line: 4,
    command: `curl -s $URL -d '{"a":\n    1}' \\\n    -H x`,
    output: '{"id":"11111111-1111-4111-8111-111111111111",\n "b":2}',
    isFirst: true,
    notRun: undefined,
  });
  assert.deepEqual(key, { page: 'p', line: 10, assignment: 'KEY=key_mgt_hTQb0H8U9CIgVegkYEtKfqxrSx1P3hFd' });
  const notRun = 'nobody has that host';
  assert.deepEqual(migrate, {
    ...common,
    line: 15,
    command: 'strongroom migrate',
    output: 'Applied: one.',
    isFirst: true,
    notRun,
  });
  assert.deepEqual(next, { ...common, line: 17, command: 'next', output: undefined, isFirst: false, notRun });
  assert.deepEqual(more, []);
});

it('an answer may differ in ids and times, each of them the same everywhere, and in what is left out', () => {
  const bindings = new Bindings();
  const id = (digit: string) =>
    `${digit.repeat(8)}-${digit.repeat(4)}-4${digit.repeat(3)}-8${digit.repeat(3)}-${digit.repeat(12)}`;
  const isShown = (shown: string, actual: string) => bindings.mismatch(unfolded(shown), actual) === undefined;
  assert.ok(
    isShown(
      `{"id":"${id('1')}",\n "of":"${id('2')}",…,"again":"${id('1')}"}`,
      `{"id":"${id('a')}","of":"${id('b')}","x":[1],"again":"${id('a')}"}`,
    ),
  );
  assert.equal(bindings.apply(`/tokens/${id('1')}`), `/tokens/${id('a')}`);
  assert.ok(isShown(`{"id":"${id('1')}"}`, `{"id":"${id('a')}"}`));
  assert.ok(!isShown(`{"id":"${id('1')}"}`, `{"id":"${id('b')}"}`), 'another than before');
  assert.ok(!isShown(`["${id('3')}","${id('3')}"]`, `["${id('c')}","${id('d')}"]`), 'not the same twice');
  assert.ok(!isShown('{"count":1}', '{"count":2}'), 'a number is no id');
  assert.ok(!isShown('{"a":1}', '{"a":1,"b":2}'), 'something more');
  assert.ok(isShown('"2026-11-15T06:28:09.032+00:00"', '"2030-01-01T00:00:00.000+00:00"'));
  assert.ok(!isShown('"2026-11-15T06:28:09.032+00:00"', '"2030-01-01T00:00:00Z"'), 'another form');
});

import { nastyPiece } from './mutations.js';
import type { Case, Part } from './part.js';
import { oneOf } from './part.js';
import type { Random } from './random.js';
import { WRONG_KINDS } from './wrong-kinds.js';

const json = JSON.stringify;
const PAYLOAD_BYTES_MAX = 5_242_880;
/** The JSON around what fills a body. */
const AROUND_BYTES = 64;
const MANY_VALUES = 200_000;
const SOME_ID = '0198f0aa-5555-7000-8000-000000000000';
/** Acts on a Reactor that take no body. */
const WITHOUT_BODY = [
  ...['callback-secret', 'versions/1/restore'],
  ...['retry', 'cancel'].map((act) => `requests/${SOME_ID}/${act}`),
];
const DEPTHS = [10, 60, 100, 1_000, 20_000];

/** Code that does not compile, does nothing, or does what no code should. */
const CODES: readonly ((random: Random) => string)[] = [
  () => 'module.exports = ',
  () => '}{',
  () => '\u0000',
  () => '\ud800 module.exports = 1',
  () => '#!/bin/sh\nexit 1',
  () => '<?php system("id");',
  () => 'module.exports = 7',
  () => 'export default () => 1',
  () => 'require("child_process").execSync("id")',
  () => 'require("/etc/passwd")',
  () => 'module.exports = require("fs").readFileSync',
  () => 'throw null',
  () => 'module.exports = () => { throw { toString: 0, status: 200 } }',
  () => 'module.exports = () => { throw new Proxy({}, { get() { throw 1 } }) }',
  () => 'module.exports = () => process.exit(1)',
  () => 'module.exports = () => ({ raw: process.env, tokenize: 1n })',
  () => 'module.exports = () => { const a = {}; a.a = a; return { raw: a } }',
  () => 'Object.prototype.status = 500; Object.prototype.outcome = 1; module.exports = () => ({})',
  () => 'Array.prototype.map = null; JSON.stringify = () => "}{"; module.exports = () => ({ raw: [1] })',
  () => 'globalThis.Promise = null; module.exports = async () => ({ raw: 1 })',
  () => 'module.exports = () => ({ raw: "x".repeat(6e6) })',
  () => `module.exports = () => ({ raw: ${'['.repeat(3_000)}${']'.repeat(3_000)} })`,
  () => 'module.exports = () => { console.log("x".repeat(1e6)); console.error({}); return {} }',
  () => 'const f = () => f(); module.exports = f',
  () =>
    'const { CustomHttpResponseError: E } = require("strongroom-errors"); module.exports = () => { throw new E({ status: 99, headers: { "a\\nb": "c" } }) }',
  (random) => nastyPiece(random),
  (random) => random.text(1 + random.below(2_000), '(){}[];=>"\'`\\/*.,module exports=asyncreq\n'),
];

/** Code of a tenant and what it is called with: run or refused, and nothing of anybody else's is reached. */
export const reactors: Part = {
  name: 'reactors',
  about: 'garbage for code, hostile arguments, bodies at the limit and ids of others, on every call of Reactors',
  cases: { short: 90, long: 4_000 },
  // Each may start a process.
  width: 6,
  run: oneOf(garbageCode, garbageCode, hostileArguments, hostileArguments, storedAndRun, foreignIds, largeBody),
};

async function garbageCode(one: Case): Promise<void> {
  const code = one.random.pick(CODES)(one.random);
  await one.call(one.world.side.manageKey, 'POST', '/reactors/test', json({ code, args: { n: 1 } }));
}

/** As JSON text, because much of it no value can hold. */
function hostileJson(random: Random): string {
  const depth = random.pick(DEPTHS);
  return random.pick([
    () => '['.repeat(depth) + ']'.repeat(depth),
    () => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
    () => random.pick(WRONG_KINDS).make({}, random),
    () => json({ [nastyPiece(random)]: nastyPiece(random) }),
    () => '{"__proto__":{"x":1},"constructor":{"prototype":{}},"toString":0}',
    () => '{"a":1,"a":2,"throws":"x"}',
    () => json({ tokenize: { id: nastyPiece(random), type: nastyPiece(random) } }),
    () => json({ card: `{{ ${nastyPiece(random)} }}`, all: '{{ data | json }}' }),
  ])();
}

async function hostileArguments(one: Case): Promise<void> {
  const { random, world } = one;
  const id = random.pick(world.main.reactorIds);
  const more = random.oneIn(4) ? `,"timeout_ms":${random.pick(WRONG_KINDS).make({}, random)}` : '';
  const target = `/reactors/${id}/${random.pick(['react', 'react', 'react-async', 'test'])}`;
  const key = target.endsWith('test') ? world.main.manageKey : world.main.privateKey;
  await one.call(key, 'POST', target, `{"args":${hostileJson(random)}${more}}`);
}

/** What is stored comes back as it was, or was never taken; then it is run, and gone. */
async function storedAndRun(one: Case): Promise<void> {
  const { random, world } = one;
  const { manageKey, privateKey } = world.side;
  const body = {
    name: nastyPiece(random),
    code: random.pick(CODES)(random),
    configuration: { [random.oneIn(2) ? 'KEY' : nastyPiece(random)]: nastyPiece(random) },
  };
  const made = await one.call(manageKey, 'POST', '/reactors', json(body));
  if (made.status !== 201) return one.check(made.status === 400, `a Reactor was refused with ${made.status}`);
  const { id } = JSON.parse(made.body);
  const read = JSON.parse((await one.call(manageKey, 'GET', `/reactors/${id}`)).body);
  const isSame = read.name === body.name && read.code === body.code;
  one.check(isSame && json(read.configuration) === json(body.configuration), 'what is read is not what was stored');
  await one.call(privateKey, 'POST', `/reactors/${id}/react`, json({ args: {} }));
  await one.call(manageKey, 'PATCH', `/reactors/${id}`, `{"configuration":${hostileJson(random)}}`);
  await one.call(manageKey, 'GET', `/reactors/${id}/versions`);
  await one.call(manageKey, 'GET', `/reactors/${id}/metrics`);
  const gone = await one.call(manageKey, 'DELETE', `/reactors/${id}`);
  one.check(gone.status === 204, `deleting answered ${gone.status}`);
}

/** A Reactor of another tenant is not there, on any call. */
async function foreignIds(one: Case): Promise<void> {
  const { random, world } = one;
  const at = `/reactors/${random.pick(world.victim.reactorIds)}`;
  const body = json({ name: 'Mine', code: 'module.exports = () => ({})', args: {} });
  const [method, target, key] = random.pick([
    ...(['GET', 'PUT', 'PATCH', 'DELETE'] as const).map((verb) => [verb, at, world.main.manageKey] as const),
    ...['versions', 'metrics', 'requests'].map((name) => ['GET', `${at}/${name}`, world.main.manageKey] as const),
    ...['test', ...WITHOUT_BODY].map((name) => ['POST', `${at}/${name}`, world.main.manageKey] as const),
    ...['react', 'react-async'].map((name) => ['POST', `${at}/${name}`, world.main.privateKey] as const),
    ['GET', `${at}/results/${SOME_ID}`, world.main.privateKey] as const,
  ]);
  const hasNone = method === 'GET' || method === 'DELETE' || WITHOUT_BODY.some((name) => target.endsWith(name));
  const answer = await one.call(key, method, target, hasNone ? undefined : body);
  one.check(answer.status === 404, `${method} ${target} answered ${answer.status}`);
  const own = { name: 'Mine', code: '1', application: { id: world.victim.applicationId } };
  const taken = await one.call(world.main.manageKey, 'POST', '/reactors', json(own));
  one.check(taken.status === 400, `an Application of another tenant was taken: ${taken.status}`);
}

/** Around the limit of a payload: run, or 413. Many small values take far more work a byte, so there are fewer of them. */
async function largeBody(one: Case): Promise<void> {
  const { random, world } = one;
  const bytes = PAYLOAD_BYTES_MAX - AROUND_BYTES + random.pick([-1_000_000, -100, 0, 100, 1_000_000]);
  const args = random.pick([
    () => json('x'.repeat(bytes)),
    () => `[${'1,'.repeat(MANY_VALUES)}1]`,
    () => `[${'{},'.repeat(MANY_VALUES)}{}]`,
  ])();
  const id = random.pick(world.main.reactorIds);
  const answer = await one.call(world.main.privateKey, 'POST', `/reactors/${id}/react`, `{"args":${args}}`);
  const isExpected = [200, 400, 413, 500, 503].includes(answer.status);
  one.check(isExpected, `${args.length} bytes of arguments answered ${answer.status}`);
}

import type { Bomb } from './bombs-fixture.js';
import { BOMBS, endless, hungry } from './bombs-fixture.js';

/** The deadline that callers get. */
const FULL_MS = 30_000;
const handler = (body: string): string => `module.exports = async () => { ${body} };`;

/** Further code that takes too much. */
const VARIANTS: readonly Bomb[] = [
  endless(
    'a loop of microtasks',
    handler('const next = () => queueMicrotask(next); next(); await new Promise(() => {});'),
  ),
  endless(
    'a sort that never agrees',
    handler('const a = Array.from({ length: 1e4 }, (_, i) => i); for (;;) a.sort(() => Math.random() - 0.5);'),
  ),
  endless(
    'a key that takes for ever',
    handler('const { pbkdf2Sync } = require("crypto"); for (;;) pbkdf2Sync("a", "b", 1e5, 64, "sha512");'),
  ),
  endless('a loop in a getter of the answer', handler('return { get a() { for (;;); } };')),
  endless(
    'a loop in what it throws',
    handler('throw { get message() { for (;;); }, toString() { for (;;); }, [Symbol.toPrimitive]() { for (;;); } };'),
  ),
  hungry(
    'maps without end',
    'const map = new Map(); for (let i = 0; i < 1e5; i += 1) map.set({}, [i]); kept.push(map);',
  ),
  hungry('promises without end', 'for (let i = 0; i < 1e4; i += 1) kept.push(new Promise(() => {}).then(() => i));'),
  hungry('buffers of Node without end', 'kept.push(Buffer.alloc(16 << 20, 1));'),
  hungry('copies without end', 'kept.push(structuredClone({ a: new Uint8Array(8 << 20).fill(1) }));'),
  hungry(
    'streams without end',
    'const [a, b] = new Response(new Uint8Array(4 << 20).fill(1)).body.tee(); kept.push(await new Response(a).arrayBuffer(), b);',
  ),
  hungry(
    'requests without end',
    'kept.push(new Request("http://a.test/", { method: "POST", body: "x".repeat(4 << 20) }));',
  ),
  hungry('names without end', 'for (let i = 0; i < 1e4; i += 1) kept.push({ [Math.random()]: 1 });'),
];

/** All of them; those that never end get as long as a caller would wait. */
export const LONG_BOMBS: readonly Bomb[] = [...BOMBS, ...VARIANTS].map((bomb) =>
  bomb.outcomes.includes('timeout') ? { ...bomb, deadlineMs: FULL_MS } : bomb,
);

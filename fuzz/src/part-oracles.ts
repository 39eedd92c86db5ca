import type { Answer } from './answer.js';
import type { Canary, CanaryPair } from './canaries.js';
import type { Subject } from './liquid-text.js';
import { expressionOn, tellingOn } from './liquid-text.js';
import { mutated } from './mutations.js';
import type { Case, Part } from './part.js';
import { oneOf } from './part.js';
import { request } from './request.js';

const ENTRIES = 100;
/** Which of our sentences comes back may depend on the data, as whether one comes back does. False: it may not. */
const ARE_REASONS_TOLD: boolean = true;
const NUMBER = /\d+/g;
/** These draw by chance, so that two answers differ for no reason. */
const DRAWS = /alias_|sample/;
const DATES = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00/g;

/**
 * The same request about two cards that only differ in digits the caller may not see, or may see only with an entry in the
 * log. Where the answers differ, they tell the cards apart.
 */
export const oracles: Part = {
  name: 'oracles',
  about: 'one expression over two cards: refusals are the same for both, and who sees masks cannot tell them apart',
  cases: { short: 160, long: 22_000 },
  width: 16,
  run: oneOf(askRevealed, askRevealed, askMasked, changeUnseen),
};

function textFor({ random }: Case, subject: Subject): string {
  const text = random.oneIn(2) ? tellingOn(random, subject) : expressionOn(random, subject);
  return random.oneIn(8) ? mutated(random, text) : text;
}

/** With a place for the id. */
const ID = 'CANARY-ID';

function onToken({ type }: CanaryPair, isWhole: boolean): Subject {
  const head = isWhole ? `token: ${ID}` : ID;
  const path =
    type === 'card' ? ` | json: "${isWhole ? '$.data.number' : '$.number'}"` : isWhole ? ' | json: "$.data"' : '';
  return { heads: [head], bind: `{% capture x %}{{ ${head}${path} }}{% endcapture %}` };
}

/** What is left of an answer without what is new each time. */
function kept(answer: Answer, { id }: Canary): string {
  const traceId = answer.headers.get('svc-trace-id') ?? '';
  return `${answer.status} ${answer.body.replaceAll(traceId, '').replaceAll(id, ID).replaceAll(DATES, '')}`;
}

/** Sometimes several expressions: which of them fails must not be told either. */
function bodyFor(one: Case, subject: Subject): string {
  const texts = Array.from({ length: one.random.oneIn(4) ? 3 : 1 }, () => textFor(one, subject));
  return JSON.stringify({ a: texts.length === 1 ? texts[0] : texts });
}

async function askBoth(one: Case, pair: CanaryPair, key: string, body: string): Promise<readonly [Answer, Answer]> {
  const sent = pair.cards.map(({ id }) => request(key, 'POST', '/detokenize', body.replaceAll(ID, id)));
  return both(await one.sendAll(sent));
}

function both([first, second]: readonly Answer[]): readonly [Answer, Answer] {
  if (first === undefined || second === undefined) throw new Error('assertion failed: both were answered');
  return [first, second];
}

/**
 * Who may see the data still learns no value, count or position from the words of a refusal. That one card is refused and the
 * other is not, or for another reason, cannot be helped: but then the refusal is in the log.
 */
async function askRevealed(one: Case): Promise<void> {
  const { random, world } = one;
  const pair = random.pick(world.canaries);
  const text = bodyFor(one, onToken(pair, random.oneIn(8)));
  const answers = await askBoth(one, pair, world.main.privateKey, text);
  const [first, second] = answers;
  const words = [kept(first, pair.cards[0]), kept(second, pair.cards[1])] as const;
  const isWordedAlike = words[0].replaceAll(NUMBER, '#') === words[1].replaceAll(NUMBER, '#');
  const areRefused = answers.every(({ status }) => status >= 400);
  const isTold = areRefused && words[0] !== words[1];
  one.check(!isTold || !isWordedAlike, `a refusal counts what is in the card: ${shown(first, second)}`);
  one.check(
    !isTold || ARE_REASONS_TOLD || DRAWS.test(text),
    `two cards are refused otherwise: ${shown(first, second)}`,
  );
  if (!isTold && first.status === second.status) return;
  for (const [at, { status, headers }] of answers.entries()) {
    if (status < 400) continue;
    const target = `/logs?include=details&size=${ENTRIES}&entity_id=${pair.cards[at]?.id}`;
    const log = await one.call(world.main.manageKey, 'GET', target);
    const isLogged = log.body.includes(headers.get('svc-trace-id') ?? '-');
    one.check(isLogged, 'a refusal that depends on the card is not in the log');
  }
}

/** Who sees masks gets the same of both, refused or not. */
async function askMasked(one: Case): Promise<void> {
  const { random, world } = one;
  const pair = random.pick(world.canaries);
  const text = bodyFor(one, onToken(pair, false));
  const [first, second] = await askBoth(one, pair, world.main.maskedKey, text);
  if (DRAWS.test(text)) return;
  const isSame = kept(first, pair.cards[0]) === kept(second, pair.cards[1]);
  one.check(isSame, `a masked reader tells two cards apart: ${shown(first, second)}`);
}

/** Who may change tokens and not see them gets the same of both, whatever is to be evaluated on them. */
async function changeUnseen(one: Case): Promise<void> {
  const { random, world } = one;
  const pair = random.pick(world.canaries);
  const number = pair.type === 'card' ? 'data.number' : 'data';
  const subject = { heads: ['data', number], bind: `{% assign x = ${number} %}` };
  const text = textFor(one, subject);
  const place = random.pick(['fingerprint_expression', 'search_indexes', 'mask'] as const);
  const value = { fingerprint_expression: text, search_indexes: [text], mask: { m: text } }[place];
  const more = random.oneIn(3) && pair.type === 'card' ? { data: { expiration_year: 2031 } } : {};
  const body = JSON.stringify({ [place]: value, ...more });
  const sent = pair.cards.map(({ id }) => request(world.main.updateKey, 'PATCH', `/tokens/${id}`, body));
  const [first, second] = both(await one.sendAll(sent));
  const isSame = kept(first, pair.cards[0]) === kept(second, pair.cards[1]);
  one.check(isSame, `a caller without sight tells two cards apart: ${shown(first, second)}`);
  one.check(first.status >= 400, `a caller without sight changed ${place}: ${first.status}`);
}

function shown(first: Answer, second: Answer): string {
  return [first, second].map(({ status, body }) => `${status} ${body.slice(0, 300)}`).join(' / ');
}

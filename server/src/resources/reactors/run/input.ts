import { validationFailed } from '../../../kernel/errors.js';
import type { Faults } from '../../../kernel/field-faults.js';
import { addFault, faultsUnder } from '../../../kernel/field-faults.js';
import type { Json } from '../../../kernel/json.js';
import type { JsonObject } from '../../../kernel/json-object.js';
import { isJsonObject } from '../../../kernel/json-object.js';
import { parseUrl } from '../../../kernel/parse-url.js';
import { CALLBACK_URL_LENGTH_MAX, TIMEOUT_MS } from '../schema.js';

/** What a call of a Reactor asks for. */
export interface ReactInput {
  readonly args: Json;
  /** Where the result goes; undefined where the caller waits for it. */
  readonly callbackUrl: string | undefined;
  readonly timeoutMs: number;
}

/** Published clients write these two in either way. */
const SPELLINGS = { callback_url: ['callback_url', 'callbackUrl'], timeout_ms: ['timeout_ms', 'timeoutMs'] } as const;

export function readReactBody(body: unknown): ReactInput {
  if (!isJsonObject(body)) throw validationFailed({ $: ['must be an object'] });
  const faults = faultsUnder({}, '');
  const input = {
    args: body.args ?? {},
    callbackUrl: readCallbackUrl(body, faults),
    timeoutMs: readTimeout(body, faults),
  };
  if (faults.count > 0) throw validationFailed(faults.errors);
  return input;
}

/** The same for a call whose result is fetched later, so that there is nowhere to send it. */
export function readReactAsyncBody(body: unknown): ReactInput {
  if (!isJsonObject(body)) throw validationFailed({ $: ['must be an object'] });
  const faults = faultsUnder({}, '');
  const input = { args: body.args ?? {}, callbackUrl: undefined, timeoutMs: readTimeout(body, faults) };
  if (faults.count > 0) throw validationFailed(faults.errors);
  return input;
}

function given(body: JsonObject, name: keyof typeof SPELLINGS): Json | undefined {
  const spelling = SPELLINGS[name].find((each) => (body[each] ?? null) !== null);
  return spelling === undefined ? undefined : body[spelling];
}

function readCallbackUrl(body: JsonObject, faults: Faults): string | undefined {
  const url = given(body, 'callback_url');
  if (url === undefined) return undefined;
  if (typeof url === 'string' && url.length <= CALLBACK_URL_LENGTH_MAX && isCallbackUrl(url)) return url;
  addFault(faults, 'callback_url', `must be an https address of at most ${CALLBACK_URL_LENGTH_MAX} characters`);
  return undefined;
}

function isCallbackUrl(text: string): boolean {
  const url = parseUrl(text);
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
}

function readTimeout(body: JsonObject, faults: Faults): number {
  const { min, max, default: usual } = TIMEOUT_MS;
  const ms = given(body, 'timeout_ms');
  if (ms === undefined) return usual;
  if (typeof ms === 'number' && Number.isInteger(ms) && ms >= min && ms <= max) return ms;
  addFault(faults, 'timeout_ms', `must be a whole number from ${min} to ${max}`);
  return usual;
}

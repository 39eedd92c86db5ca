import type { Faults } from '../../../kernel/field-faults.js';
import { addFault, memberPath } from '../../../kernel/field-faults.js';
import type { Json } from '../../../kernel/json.js';
import { isJsonArray, isJsonObject } from '../../../kernel/json-object.js';
import { codePointLength } from '../../../kernel/text.js';
import type { HeaderPairs } from '../../../outbound/message-headers.js';
import type { GivenBody } from '../../definitions/input.js';
import { isGiven, readText, textFault, throwFaults, wholeBody } from '../../definitions/input.js';
import { baseUrlFault, PROXY_URL_LENGTH_MAX } from '../run/destination.js';
import { HEADER_NAME_PATTERN, PREVIEW_METHODS, PREVIEW_PATH_PATTERN } from './schema.js';

/** A request that is looked at and not sent. */
export interface PreviewInput {
  readonly method: string;
  /** As it would stand behind `/proxy`. */
  readonly path: string;
  readonly query: string;
  /** As they were given. */
  readonly headers: HeaderPairs;
  /** Undefined for none. Text is the body as it is, anything else is JSON. */
  readonly body: Json | undefined;
}

export interface EphemeralPreviewInput extends PreviewInput {
  readonly baseUrl: string;
}

const PATH = new RegExp(PREVIEW_PATH_PATTERN);
const HEADER_NAME = new RegExp(HEADER_NAME_PATTERN);
const METHODS: readonly string[] = PREVIEW_METHODS;

export function readStoredPreview(body: unknown): PreviewInput {
  const whole = wholeBody(body, ['method']);
  const input = readRequest(whole);
  throwFaults(whole.faults);
  return input;
}

export function readEphemeralPreview(body: unknown): EphemeralPreviewInput {
  const whole = wholeBody(body, ['method', 'destination_url']);
  const { given, faults } = whole;
  const baseUrl = readText(given.destination_url, 'destination_url', faults, addressFault) ?? '';
  const input = { ...readRequest(whole), baseUrl };
  throwFaults(faults);
  return input;
}

function readRequest({ given, faults }: GivenBody): PreviewInput {
  const target = readText(given.path, 'path', faults, pathFault) ?? '';
  const [path = ''] = target.split('?', 1);
  return {
    method: readText(given.method, 'method', faults, methodFault) ?? '',
    path,
    query: target.slice(path.length + 1),
    headers: readHeaders(given.headers, faults),
    body: given.body ?? undefined,
  };
}

function addressFault(value: Json): string | undefined {
  return textFault(value, PROXY_URL_LENGTH_MAX) ?? baseUrlFault(String(value));
}

function methodFault(value: Json): string | undefined {
  return typeof value === 'string' && METHODS.includes(value) ? undefined : `must be one of ${METHODS.join(', ')}`;
}

function pathFault(value: Json): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (codePointLength(value) > PROXY_URL_LENGTH_MAX) return `must be at most ${PROXY_URL_LENGTH_MAX} characters long`;
  return PATH.test(value) ? undefined : 'must be empty or begin with / or ?, without fragment and control characters';
}

function readHeaders(value: Json | undefined, faults: Faults): HeaderPairs {
  if (!isGiven(value)) return [];
  if (!isJsonObject(value)) {
    addFault(faults, 'headers', 'must be an object of names and values');
    return [];
  }
  return Object.entries(value).flatMap(([name, given]) => {
    const values = (isJsonArray(given) ? given : [given]).filter((each) => typeof each === 'string');
    if (!HEADER_NAME.test(name)) {
      addFault(faults, 'headers', 'must have names of letters, digits, hyphens and underscores');
    } else if (values.length < (isJsonArray(given) ? given.length : 1)) {
      addFault(faults, memberPath('headers', name), 'must be a string or a list of strings');
    }
    return values.map((each) => [name, each] as const);
  });
}

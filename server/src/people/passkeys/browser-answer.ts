import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { JsonObject } from '../../kernel/json-object.js';
import { isJsonObject } from '../../kernel/json-object.js';

/** Of all texts that are read of an answer together. Real ones have one or two kilobytes. */
export const PASSKEY_ANSWER_CHARACTERS_MAX = 65_536;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
/** Of WebAuthn, section 5.8.4. Browsers may add words, which are of no use to us. */
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

/** Kinds of ways to an authenticator: they help a browser to choose what it shows. */
export type PasskeyTransport = (typeof TRANSPORTS)[number];

/** What a browser sends after `navigator.credentials.create`, or undefined for anything else. */
export function readRegistrationAnswer(answer: unknown): RegistrationResponseJSON | undefined {
  const read = readCredential(answer, ['clientDataJSON', 'attestationObject']);
  if (read === undefined || !isOfOwnPage(read.texts.clientDataJSON)) return undefined;
  const { clientDataJSON, attestationObject } = read.texts;
  return { ...read.head, response: { clientDataJSON, attestationObject, transports: transportsOf(read.inner) } };
}

/** What a browser sends after `navigator.credentials.get`, or undefined for anything else. The user is named in it. */
export function readSignInAnswer(
  answer: unknown,
): (AuthenticationResponseJSON & { readonly response: { readonly userHandle: string } }) | undefined {
  const read = readCredential(answer, ['clientDataJSON', 'authenticatorData', 'signature', 'userHandle']);
  return read !== undefined && isOfOwnPage(read.texts.clientDataJSON)
    ? { ...read.head, response: read.texts }
    : undefined;
}

/** The members that are known, as base 64 texts of bounded length. Nothing else of the answer is looked at. */
function readCredential<Name extends string>(answer: unknown, names: readonly Name[]) {
  if (!isJsonObject(answer) || !isJsonObject(answer.response) || answer.type !== 'public-key') return undefined;
  const { id, rawId, response: inner } = answer;
  const found = names.map((name) => [name, inner[name]] as const);
  if (typeof id !== 'string' || id !== rawId) return undefined;
  const values = [id, ...found.map(([, text]) => text)];
  if (!values.every((text) => typeof text === 'string')) return undefined;
  if (values.reduce((sum, text) => sum + text.length, 0) > PASSKEY_ANSWER_CHARACTERS_MAX) return undefined;
  if (!values.every((text) => BASE64URL.test(text))) return undefined;
  const texts = Object.fromEntries(found) as Record<Name, string>; // Each was found to be a text.
  return { head: { id, rawId, type: 'public-key' as const, clientExtensionResults: {} }, texts, inner };
}

/** What the browser says it was asked to sign. It proves nothing yet. */
export function challengeIn(answer: unknown): string | undefined {
  const read = readCredential(answer, ['clientDataJSON']);
  const challenge = read && clientDataOf(read.texts.clientDataJSON)?.challenge;
  return typeof challenge === 'string' ? challenge : undefined;
}

/** The Portal is in no frame of another page. The library looks at this only where a browser names the page around it. */
function isOfOwnPage(clientDataJSON: string): boolean {
  const data = clientDataOf(clientDataJSON);
  return data !== undefined && (data.crossOrigin ?? false) === false && data.topOrigin === undefined;
}

function clientDataOf(clientDataJSON: string): JsonObject | undefined {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
    return isJsonObject(data) ? data : undefined;
  } catch {
    return undefined;
  }
}

function transportsOf({ transports }: JsonObject): PasskeyTransport[] {
  return Array.isArray(transports) ? TRANSPORTS.filter((name) => transports.includes(name)) : [];
}

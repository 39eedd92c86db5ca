import type { CustomFetch } from 'openid-client';
import { isJsonObject } from '../../kernel/json-object.js';
import type { Outbound } from '../../outbound/outbound.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { PRODUCT_CALLER } from '../../outbound/policy.js';

/** The issuer cannot be asked. The message is for the operator, and holds nothing of request or answer. */
export class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable';
}

const ANSWER_BYTES_MAX = 1024 * 1024;
const OK_MIN = 200;
const REDIRECT_MIN = 300;
const CLIENT_FAULT_MIN = 400;
const SERVER_FAULT_MIN = 500;

/**
 * What the library takes in place of `fetch`: every request goes through the one way out, under its rules for the product. All
 * that is asked of an issuer is answered in JSON; whatever else comes back is a failure of the issuer.
 */
export function createOutboundFetch(outbound: Pick<Outbound, 'send'>, timeoutMs: number): CustomFetch {
  return async (url, { method, headers, body }) => {
    const { status, bytes } = await exchange(outbound, {
      tenantId: PRODUCT_CALLER,
      method,
      url,
      // Compressed answers would have to be bounded twice.
      headers: Object.entries({ ...headers, 'accept-encoding': 'identity' }),
      ...(body !== undefined && body !== null && { body: bodyOf(body) }),
      bounds: {
        connectMs: timeoutMs,
        headersMs: timeoutMs,
        idleMs: timeoutMs,
        unreadMs: timeoutMs,
        totalMs: timeoutMs,
        answerBytesMax: ANSWER_BYTES_MAX,
      },
    });
    const isAnswer =
      (status >= OK_MIN && status < REDIRECT_MIN) || (status >= CLIENT_FAULT_MIN && status < SERVER_FAULT_MIN);
    if (!isAnswer) throw new IssuerUnavailable(`the issuer answered with status ${status}`);
    if (!isJson(bytes)) throw new IssuerUnavailable(`the issuer answered with status ${status} and no JSON object`);
    // The type is ours: the library wants to see it, and the text was found to be JSON. No other header is of use.
    return new Response(bytes, { status, headers: { 'content-type': 'application/json' } });
  };
}

async function exchange(outbound: Pick<Outbound, 'send'>, request: Parameters<Outbound['send']>[0]) {
  try {
    const { status, body } = await outbound.send(request);
    const pieces: Buffer[] = [];
    for await (const piece of body) pieces.push(piece);
    return { status, bytes: new Uint8Array(Buffer.concat(pieces)) };
  } catch (error) {
    const code = error instanceof OutboundError ? error.code : 'unknown';
    throw new IssuerUnavailable(`a request to the issuer failed (${code})`, { cause: error });
  }
}

/** The library sends forms and nothing else. */
function bodyOf(body: unknown): Buffer {
  if (body instanceof URLSearchParams || typeof body === 'string') return Buffer.from(body.toString());
  throw new IssuerUnavailable('a body of this kind is not sent');
}

function isJson(bytes: Uint8Array): boolean {
  try {
    return isJsonObject(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    return false;
  }
}

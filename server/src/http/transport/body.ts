import type { IncomingMessage } from 'node:http';
import { AppError } from '../../kernel/errors.js';
import { parseJsonBody } from '../../kernel/json-guard.js';
import type { Exchange } from './respond.js';

export const BODY_BYTES_MAX = 1_048_576;

const MEDIA_TYPE = /^application\/(json|[A-Za-z0-9!#$&^_.+-]+\+json)$/i;
const PATCH_MEDIA_TYPE = /^application\/(json|merge-patch\+json)$/i;

/** Told of every byte of a body that is more than a little; throws when all bodies together are too much. */
export type CountBytes = (bytes: number) => void;

/** Up to here a body is not counted: as many such as may wait at once still fit into memory. */
export const UNCOUNTED_BYTES_MAX = 16_384;

/** Reads the bytes of a body. */
export function readBody(exchange: Exchange, bytesMax: number, count: CountBytes): Promise<Buffer> {
  const { request, response, context } = exchange;
  refuseTooLong(context, bytesMax);
  // Whoever asked first is told to go on only now: the rights are known and the length is fine.
  if (context.headers.expect !== undefined) response.writeContinue();
  return readBytes(request, bytesMax, count);
}

/** What a body says in JSON. Nothing sent is undefined, whatever the content type says. */
export function parseBody(request: IncomingMessage, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  refuseOtherMedia(request);
  return parseJsonBody(bytes);
}

function refuseOtherMedia(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw unsupported('Send the body without a content encoding.');
  }
  const [mediaType = '', ...parameters] = (request.headers['content-type'] ?? '').split(';').map((part) => part.trim());
  const accepted = request.method === 'PATCH' ? PATCH_MEDIA_TYPE : MEDIA_TYPE;
  if (!accepted.test(mediaType)) throw unsupported('Send the body as JSON with Content-Type: application/json.');
  const charset = parameters.find((parameter) => /^charset\s*=/i.test(parameter));
  if (charset !== undefined && !/^charset\s*=\s*"?utf-?8"?$/i.test(charset))
    throw unsupported('Send the body in UTF-8.');
}

function unsupported(detail: string): AppError {
  return new AppError('unsupported_media_type', detail);
}

export function tooLarge(bytesMax: number): AppError {
  return new AppError('payload_too_large', `The body is larger than ${bytesMax} bytes.`);
}

export function brokenOff(cause?: unknown): AppError {
  return new AppError('malformed_request', 'The body broke off.', cause === undefined ? {} : { cause });
}

export function refuseTooLong({ headers }: Exchange['context'], bytesMax: number): void {
  if (Number(headers.contentLength ?? 0) > bytesMax) throw tooLarge(bytesMax);
}

function readBytes(request: IncomingMessage, bytesMax: number, count: CountBytes): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let counted = 0;
    const refuse = (error: unknown): void => {
      chunks.length = 0;
      length = Infinity;
      reject(error);
    };
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > bytesMax) {
        refuse(tooLarge(bytesMax));
        return;
      }
      chunks.push(chunk);
      if (length <= UNCOUNTED_BYTES_MAX) return;
      try {
        count(length - counted);
        counted = length;
      } catch (error) {
        refuse(error);
      }
    });
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', (error) => reject(brokenOff(error)));
    request.on('close', () => {
      // Every request closes; making an error for those that are done would cost more than reading them.
      if (!request.complete) reject(brokenOff());
    });
  });
}

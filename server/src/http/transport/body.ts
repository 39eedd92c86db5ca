import type { IncomingMessage } from 'node:http';
import { BodyCollector, FragmentWatch } from '../../kernel/body-collector.js';
import { AppError } from '../../kernel/errors.js';
import { JsonScan, parseJsonBody } from '../../kernel/json-guard.js';
import type { Exchange } from './respond.js';

export const BODY_BYTES_MAX = 1_048_576;
/** Values of a JSON body, for routes that declare no bound of their own. */
export const BODY_VALUES_MAX = 10_000;

/** Bounds of one body. They hold while it arrives: what is over them is never kept, nor parsed. */
export interface BodyLimits {
  readonly bytesMax: number;
  /** Undefined for a body that need not be JSON. */
  readonly valuesMax?: number | undefined;
}

const MEDIA_TYPE = /^application\/(json|[A-Za-z0-9!#$&^_.+-]+\+json)$/i;
const PATCH_MEDIA_TYPE = /^application\/(json|merge-patch\+json)$/i;

/** Told of every byte of a body that is more than a little; throws when all bodies together are too much. */
export type CountBytes = (bytes: number) => void;

/** Up to here a body is not counted: as many such as may wait at once still fit into memory. */
export const UNCOUNTED_BYTES_MAX = 16_384;
/** Bodies up to this length are not scanned: they have fewer values than any bound, and need little memory. */
export const UNSCANNED_BYTES_MAX = 8_192;

export interface ReceivedBody {
  readonly body: Buffer;
  /** Its values, where it is JSON and not so short that they need not be counted. */
  readonly scan: JsonScan | undefined;
}

/** Reads the bytes of a body. */
export function readBody(exchange: Exchange, bounds: BodyLimits, count: CountBytes): Promise<ReceivedBody> {
  const { response, context } = exchange;
  refuseTooLong(context, bounds.bytesMax);
  // Whoever asked first is told to go on only now: the rights are known and the length is fine.
  if (context.headers.expect !== undefined) response.writeContinue();
  const isShort = Number(context.headers.contentLength ?? Number.POSITIVE_INFINITY) <= UNSCANNED_BYTES_MAX;
  return readBytes(exchange, isShort ? { bytesMax: bounds.bytesMax } : bounds, count);
}

/** What a body says in JSON. Nothing sent is undefined, whatever the content type says. */
export function parseBody(request: IncomingMessage, { body, scan }: ReceivedBody): unknown {
  if (body.length === 0) return undefined;
  refuseOtherMedia(request);
  return parseJsonBody(body, scan);
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

export function tooManyValues(valuesMax: number): AppError {
  const detail = `The body has more than ${valuesMax} values. Send less at a time.`;
  return new AppError('payload_too_large', detail);
}

export function fragmented(): AppError {
  const detail = 'The body comes in too many small pieces. Send it in chunks of 100 bytes or more.';
  return new AppError('malformed_request', detail, { headers: { Connection: 'close' } });
}

export function brokenOff(cause?: unknown): AppError {
  return new AppError('malformed_request', 'The body broke off.', cause === undefined ? {} : { cause });
}

export function refuseTooLong({ headers }: Exchange['context'], bytesMax: number): void {
  if (Number(headers.contentLength ?? 0) > bytesMax) throw tooLarge(bytesMax);
}

function readBytes({ request, response }: Exchange, bounds: BodyLimits, count: CountBytes): Promise<ReceivedBody> {
  return new Promise((resolve, reject) => {
    const read = new BodyCollector();
    const check = new BodyCheck(bounds);
    let counted = 0;
    let isOver = false;
    request.on('data', (piece: Buffer) => {
      if (isOver) return;
      try {
        check.add(piece);
        read.add(piece);
        if (read.bytes <= UNCOUNTED_BYTES_MAX) return;
        count(read.bytes - counted);
        counted = read.bytes;
      } catch (error) {
        isOver = true;
        read.clear();
        reject(error);
        // Parsing what still comes in small chunks would take long: the connection ends as soon as the answer is written.
        if (check.isFragmented) response.once('finish', () => request.socket.destroy());
      }
    });
    request.on('end', () => {
      if (!isOver) resolve({ body: read.take(), scan: check.scan });
    });
    request.on('error', (error) => reject(brokenOff(error)));
    request.on('close', () => {
      // Every request closes; making an error for those that are done would cost more than reading them.
      if (!request.complete) reject(brokenOff());
    });
  });
}

/** Takes each piece in turn, and throws for the first with which the body is over its bounds. */
class BodyCheck {
  readonly #bounds: BodyLimits;
  readonly #watch = new FragmentWatch();
  #bytes = 0;

  get isFragmented(): boolean {
    return this.#watch.isFragmented;
  }

  /** Undefined where nothing bounds the values. */
  readonly scan: JsonScan | undefined;

  constructor(bounds: BodyLimits) {
    this.#bounds = bounds;
    this.scan = bounds.valuesMax === undefined ? undefined : new JsonScan();
  }

  add(piece: Buffer): void {
    const { bytesMax, valuesMax = Number.POSITIVE_INFINITY } = this.#bounds;
    this.#bytes += piece.length;
    if (this.#bytes > bytesMax) throw tooLarge(bytesMax);
    if (this.#watch.add(piece.length)) throw fragmented();
    this.scan?.add(piece, valuesMax);
    if (this.scan && this.scan.values > valuesMax) throw tooManyValues(valuesMax);
  }
}

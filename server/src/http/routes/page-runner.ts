import { createHash } from 'node:crypto';
import { AppError } from '../../kernel/errors.js';
import type { Exchange, Responder } from '../transport/respond.js';
import type { PageFile, PageRoute } from './page-route.js';
import type { Params } from './route.js';
import type { RouteRunner } from './runner.js';

const CACHE_CONTROL: Readonly<Record<PageRoute['cache'], string>> = {
  'for good': 'public, max-age=31536000, immutable',
  revalidate: 'no-cache',
  never: 'no-store',
};

/** Makes a route of the kind `page` runnable. */
export function pageRunner(route: PageRoute, respond: Responder): RouteRunner {
  const name = `GET ${route.path}`;
  const headers = [
    ...['Cache-Control', CACHE_CONTROL[route.cache]],
    'Content-Security-Policy',
    route.policy,
    ...(route.headers ?? []),
  ];
  const tagOf = route.cache === 'never' ? undefined : createTags();

  function answer(exchange: Exchange, file: PageFile | undefined): void {
    if (file === undefined) throw new AppError('not_found', 'There is nothing at this path.');
    const { type } = file;
    const { content, encoding } = chosenOf(file, exchange.request.headers['accept-encoding']);
    const plain = tagOf?.(file);
    // One for each form: what a browser kept compressed is not what another one would get.
    const tag = plain !== undefined && encoding !== undefined ? `${plain.slice(0, -1)}-${encoding}"` : plain;
    const known = exchange.request.headers['if-none-match'];
    const isKnown = tag !== undefined && known !== undefined && isTagIn(known, tag);
    const shown = ['Content-Type', type, ...headers, ...(tag === undefined ? [] : ['ETag', tag])];
    if (file.compressed) shown.push('Vary', 'Accept-Encoding');
    if (encoding !== undefined) shown.push('Content-Encoding', encoding);
    respond.file(exchange, shown, isKnown ? undefined : content);
  }

  return (exchange, _rawQuery, params) => {
    exchange.context.route = name;
    const found = route.find({ name: nameIn(params), accept: exchange.request.headers.accept });
    if (found instanceof Promise) return found.then((file) => answer(exchange, file));
    return answer(exchange, found);
  };
}

/** The smallest form that the browser takes. One that says how much it wants each is given the plain one. */
function chosenOf({ content, compressed }: PageFile, accepted = ''): { content: string | Buffer; encoding?: string } {
  const names = accepted.split(',').map((part) => part.trim().toLowerCase());
  if (compressed?.br && names.includes('br')) return { content: compressed.br, encoding: 'br' };
  if (compressed?.gzip && names.includes('gzip')) return { content: compressed.gzip, encoding: 'gzip' };
  return { content };
}

/** The router has refused what cannot be decoded. */
function nameIn(params: Params): string {
  return decodeURIComponent(params['*'] ?? '').replace(/^\/|\/$/g, '');
}

/** A tag for what a file says, made once for as long as the file is in memory. */
function createTags(): (file: PageFile) => string {
  const tags = new WeakMap<PageFile, string>();
  return (file) => {
    let tag = tags.get(file);
    if (tag === undefined) {
      tag = `"${createHash('sha256').update(file.content).digest('base64url')}"`;
      tags.set(file, tag);
    }
    return tag;
  };
}

/** Whether a client has this version, or takes whatever is there for its own (RFC 9110, 13.1.2). */
function isTagIn(header: string, tag: string): boolean {
  return header.split(',').some((part) => {
    const given = part.trim();
    return given === '*' || given === tag || given === `W/${tag}`;
  });
}

import { createHash } from 'node:crypto';
import { AppError } from '../../kernel/errors.js';
import type { Exchange, Responder } from '../transport/respond.js';
import type { PageFile, PageRoute } from './page-route.js';
import type { Params } from './route.js';
import type { RouteRunner } from './runner.js';

const REVALIDATED = ['Cache-Control', 'no-cache'];
const NOT_STORED = ['Cache-Control', 'no-store'];

/** Makes a route of the kind `page` runnable. */
export function pageRunner(route: PageRoute, respond: Responder): RouteRunner {
  const name = `GET ${route.path}`;
  const headers = [
    ...(route.cache === 'revalidate' ? REVALIDATED : NOT_STORED),
    'Content-Security-Policy',
    route.policy,
    ...(route.headers ?? []),
  ];
  const tagOf = route.cache === 'revalidate' ? createTags() : undefined;

  function answer(exchange: Exchange, file: PageFile | undefined): void {
    if (file === undefined) throw new AppError('not_found', 'There is nothing at this path.');
    const { type, content } = file;
    const tag = tagOf?.(file);
    const known = exchange.request.headers['if-none-match'];
    const isKnown = tag !== undefined && known !== undefined && isTagIn(known, tag);
    const shown = ['Content-Type', type, ...headers, ...(tag === undefined ? [] : ['ETag', tag])];
    respond.file(exchange, shown, isKnown ? undefined : content);
  }

  return (exchange, _rawQuery, params) => {
    exchange.context.route = name;
    const found = route.find({ name: nameIn(params), accept: exchange.request.headers.accept });
    if (found instanceof Promise) return found.then((file) => answer(exchange, file));
    return answer(exchange, found);
  };
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

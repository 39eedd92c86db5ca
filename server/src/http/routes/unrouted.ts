import { AppError } from '../../kernel/errors.js';
import { isPreflight } from '../transport/preflight.js';
import type { Exchange, Responder } from '../transport/respond.js';
import { areaOf } from './areas.js';

const PREFLIGHT_MAX_AGE_SECONDS = '600';
const HEADER_LIST = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{0,2000}$/;
const EVERY_METHOD = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** What no route takes: an unknown path, a preflight or another OPTIONS, a wrong method. */
export function answerUnrouted(
  exchange: Exchange,
  pathname: string,
  methods: Iterable<string>,
  respond: Responder,
): void {
  const { request } = exchange;
  const { method, headers } = request;
  const allow = allowOf(methods) || (isAboutAll(exchange, pathname) ? EVERY_METHOD : '');
  if (allow === '') throw new AppError('not_found', 'There is nothing at this path.');
  if (method !== 'OPTIONS') {
    const detail = `This path does not take ${method}. It takes ${allow}.`;
    throw new AppError('method_not_allowed', detail, { headers: { Allow: allow } });
  }
  const answer = ['Allow', allow];
  // Elsewhere no page of another origin has anything to ask.
  if (isPreflight(request) && exchange.context.isCrossOrigin) {
    answer.push('Access-Control-Allow-Methods', allow, 'Access-Control-Max-Age', PREFLIGHT_MAX_AGE_SECONDS);
    const asked = headers['access-control-request-headers'];
    if (asked !== undefined && HEADER_LIST.test(asked)) answer.push('Access-Control-Allow-Headers', asked);
  }
  respond.empty(exchange, 204, answer);
}

/** A page must be able to read the 404 of a path that is not there; the Portal's paths are for its own pages alone. */
function isAboutAll({ request }: Exchange, pathname: string): boolean {
  if (request.method === 'OPTIONS' && request.url === '*') return true;
  return isPreflight(request) && areaOf(pathname).isForKeys;
}

function allowOf(methods: Iterable<string>): string {
  const known = [...methods].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return known.length === 0 ? '' : [...known, 'OPTIONS'].join(', ');
}

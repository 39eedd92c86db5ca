import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../kernel/errors.js';
import type { AllowedMethods } from './allowed-methods.js';

const PREFLIGHT_MAX_AGE_SECONDS = 600;
const HEADER_LIST = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{0,2000}$/;

/** What no route took: a preflight or another OPTIONS, a wrong method, an unknown path. */
export function createUnrouted(allowedMethods: AllowedMethods) {
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const methods = allowedMethods(decodedPath(request.url));
    if (methods.length === 0) throw new AppError('not_found', 'There is nothing at this path.');
    const allow = methods.join(', ');
    if (request.method !== 'OPTIONS') {
      const detail = `This path does not take ${request.method}. It takes ${allow}.`;
      throw new AppError('method_not_allowed', detail, { headers: { Allow: allow } });
    }
    const asked = request.headers['access-control-request-method'];
    if (asked !== undefined) {
      reply.header('Access-Control-Allow-Methods', allow);
      reply.header('Access-Control-Max-Age', PREFLIGHT_MAX_AGE_SECONDS);
      const headers = request.headers['access-control-request-headers'];
      if (typeof headers === 'string' && HEADER_LIST.test(headers))
        reply.header('Access-Control-Allow-Headers', headers);
    }
    reply.code(204).header('Allow', allow).send();
  };
}

function decodedPath(url: string): string {
  const end = url.indexOf('?');
  try {
    return decodeURI(end === -1 ? url : url.slice(0, end));
  } catch {
    return '';
  }
}

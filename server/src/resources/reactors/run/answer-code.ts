import type { KnownPrincipals } from '../../../access/known-principals.js';
import type { AnswerHolder, AuditContext } from '../../../audit/entry.js';
import type { CallInside } from '../../../http/routes/inside-calls.js';
import type { Clock } from '../../../kernel/clock.js';
import type { Outbound } from '../../../outbound/outbound.js';
import type { AnswerEngine, CodeVersion, EngineAnswer, EngineRequest, RunOrigin } from '../../../sandbox/run.js';
import { answerFromOutside, createAnswerBytes } from './outside.js';

export interface AnswerCodeOptions {
  readonly outbound: Outbound;
  readonly principals: KnownPrincipals;
  readonly callInside: CallInside;
  readonly clock: Clock;
}

const JSON_TYPE: readonly (readonly [string, string])[] = [['content-type', 'application/json']];
const GONE: EngineAnswer = {
  status: 401,
  headers: JSON_TYPE,
  body: Buffer.from(JSON.stringify({ status: 401, detail: 'The Application of the Reactor is gone.' })),
};

/** Answers the requests of running code: to servers outside, and to the API as the Reactor's Application. */
export function createAnswerCode(options: AnswerCodeOptions): AnswerEngine {
  const outside = { outbound: options.outbound, bytes: createAnswerBytes() };
  return ({ code, origin }, request, signal) =>
    request.to === 'outside'
      ? answerFromOutside(outside, code.tenantId, request, signal)
      : answerFromInside(options, code, origin, request);
}

/** As whom it calls is known from where the request came, and from nothing in it. */
async function answerFromInside(
  { principals, callInside, clock }: AnswerCodeOptions,
  { tenantId, applicationId }: CodeVersion,
  { traceId, sourceAddress }: RunOrigin,
  { method, url, body }: EngineRequest,
): Promise<EngineAnswer> {
  const principal = applicationId === undefined ? undefined : await principals.application(tenantId, applicationId);
  if (principal === undefined) return GONE;
  const { pathname, search } = new URL(url);
  const holder: AnswerHolder = { held: undefined };
  const auditContext: AuditContext = { actor: principal.actor, atMs: clock.nowMs(), sourceAddress, traceId, holder };
  try {
    const answer = await callInside(principal, auditContext, { method, target: pathname + search, body });
    return { ...answer, headers: JSON_TYPE };
  } finally {
    for (const release of holder.held ?? []) release();
  }
}

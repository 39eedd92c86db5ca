import type { Principal } from '../../access/principal.js';
import { AppError } from '../../kernel/errors.js';
import type { Exchange } from '../transport/respond.js';
import { auditContextOf } from './incoming.js';
import type { Params, RouteRecord } from './route.js';
import type { RunnerOptions } from './runner.js';

/** From who asks to the answer; nobody is known on routes that anyone may use. */
export type Admit = (
  exchange: Exchange,
  rawQuery: string,
  params: Params,
  principal: Principal | undefined,
) => void | Promise<void>;

/** Full auditing has an entry for every refusal, also by an access rule, which only the resource can know of. */
export function withDenialsAudited(
  route: Pick<RouteRecord, 'audit'>,
  { auditRequest, clock }: RunnerOptions,
  admit: Admit,
): Admit {
  if (!auditRequest || !route.audit) return admit;
  return async (exchange, rawQuery, params, principal) => {
    try {
      await admit(exchange, rawQuery, params, principal);
    } catch (error) {
      if (principal && isDenial(error)) {
        const auditContext = auditContextOf(exchange.context, clock);
        await auditRequest({ route, params, principal, auditContext, isDenied: true });
      }
      throw error;
    }
  };
}

/** What code of a tenant throws refuses nothing in our name. */
function isDenial(error: unknown): boolean {
  return error instanceof AppError && error.status === 403 && error.code !== 'reactor_error';
}

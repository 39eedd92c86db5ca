import { permissionsIn } from '../../access/authorize.js';
import { grantsDigest } from '../../access/grants.js';
import { isTokenPermission } from '../../access/permissions.js';
import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import type { KeptAnswer } from '../../kept-answers/kept-answer.js';
import { Secret } from '../../kernel/secret.js';
import type { Keep } from '../idempotency/idempotency.js';
import type { KeyedRequest } from '../idempotency/keyed-request.js';
import type { ReceivedBody } from '../transport/body.js';
import type { Exchange } from '../transport/respond.js';
import type { Answerer } from './answer.js';
import type { ReceiveBody } from './json-body.js';
import type { RouteRecord } from './route.js';
import { takesBody } from './route.js';
import type { RunnerOptions } from './runner.js';

/** A request under an idempotency key, from its admission to its answer. */
export interface KeptTurn {
  readonly keepAnswer: NonNullable<AuditContext['keepAnswer']>;
  /** What was stored last: a change may run more than once. */
  kept: KeptAnswer | undefined;
}

/** Does the work once for its idempotency key, and answers a repetition with the first answer. */
export type RunKeyed = (
  exchange: Exchange,
  principal: Principal,
  key: string,
  work: (turn: KeptTurn, received: ReceivedBody | undefined) => void | Promise<void>,
) => Promise<void>;

const NO_BODY: ReceivedBody = { body: Buffer.alloc(0), scan: undefined };
const NO_FIELDS: readonly string[] = [];

export function createRunKeyed(
  route: RouteRecord,
  { runOnce, onFault }: Pick<RunnerOptions, 'runOnce' | 'onFault'>,
  answerer: Answerer,
  receive: ReceiveBody,
): RunKeyed {
  const readsBody = takesBody(route);
  const isAboutTokens = permissionsIn(route.permission).some(isTokenPermission);
  const { secretFields = NO_FIELDS } = route;

  function keyedOf({ context, request }: Exchange, principal: Principal, key: string, body: Buffer | undefined) {
    const { apiKey } = context.headers;
    // Where an answer shows a secret, the body may be empty for everybody; then nobody else's address gets it.
    const client = secretFields.length > 0 ? context.limitKey : '';
    const keyed: KeyedRequest = {
      principal,
      key,
      method: route.method,
      pathname: pathnameOf(request.url ?? '/'),
      sharedBy: body && { body, client },
      credential: apiKey === undefined ? undefined : new Secret(apiKey),
      secretFields,
      rights: () => (isAboutTokens ? grantsDigest((context.principal ?? principal).grants) : undefined),
    };
    return keyed;
  }

  function turnOf(keep: Keep): KeptTurn {
    const turn: KeptTurn = {
      kept: undefined,
      async keepAnswer(tx, value, shown = []) {
        const answered = answerer.render(value);
        await keep(tx, answered, shown);
        turn.kept = answered;
      },
    };
    return turn;
  }

  return async (exchange, principal, key, work) => {
    // A public key is in every browser: there the body tells one caller from another, so it comes first.
    const body = isShared(principal) ? await (readsBody ? receive(exchange) : NO_BODY) : undefined;
    const asked = exchange.context.principal ?? principal;
    const earlier = await runOnce(keyedOf(exchange, asked, key, body?.body), async (keep) => {
      const turn = turnOf(keep);
      await work(turn, body);
      if (turn.kept) return;
      onFault(new Error(`${route.method} ${route.path} did not keep its answer`), exchange.context.traceId);
    });
    if (earlier) answerer.replay(exchange, earlier);
  };
}

function isShared(principal: Principal): boolean {
  return principal.kind === 'application' && principal.applicationType === 'public';
}

function pathnameOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

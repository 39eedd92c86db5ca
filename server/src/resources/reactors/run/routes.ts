import type { RouteExample, RouteRecord } from '../../../http/routes/route.js';
import { defineRoute } from '../../../http/routes/route.js';
import { REACTOR_EVENTS } from '../events.js';
import { CodeTrialDocument, ReactBody, ReactDocument, TrialBody, TrialDocument } from '../schema.js';
import type { RunCalls } from './service.js';

const one = { entityId: { param: 'id' }, onDenied: REACTOR_EVENTS.denied } as const;
const all = { entityId: '*', onDenied: REACTOR_EVENTS.denied } as const;
const MADE: RouteExample = { after: 'POST /reactors', params: { id: '$response.body#/id' } };
/** The payload as specified. */
export const PAYLOAD = { bodyBytesMax: 5_242_880, bodyValuesMax: 100_000 } as const;
const base = { limits: [], tag: 'Reactors', method: 'POST', anyBody: true, ...PAYLOAD } as const;
export const CODE_FAILURES = [
  'reactor_code_invalid',
  'reactor_timeout',
  'reactor_error',
  'reactors_unavailable',
] as const;
const ARGS_RULES = {
  expressions: 'Expressions in `args` parse, give a value and name tokens that there are, 100 at most.',
  callback_url: 'The address is one of https, without a user or password in it.',
};
const TRIAL_RULES = {
  entries: 'At most 25 entries of `configuration` are not null.',
  expressions: '`args` holds no expressions, because a test uses no tokens.',
};

export function reactRoutes(runs: RunCalls): RouteRecord[] {
  return [reactRoute(runs), ...trialRoutes(runs)];
}

function reactRoute(runs: RunCalls): RouteRecord {
  return defineRoute({
    ...base,
    path: '/reactors/:id/react',
    permission: 'token:use',
    admits: ['application', 'session'],
    summary: 'Run a Reactor',
    description:
      'Runs its code on the arguments, with the values of tokens in place of expressions, for 30 s at most. With `callback_url` it runs later, and the result is sent there.',
    optionalBody: true,
    describes: { body: ReactDocument, rules: ARGS_RULES },
    example: { ...MADE, body: { args: { name: 'Ada' } } },
    status: 200,
    response: ReactBody,
    otherSuccess: { status: 202, description: 'Taken on, with `callback_url`; no body.' },
    failures: [...CODE_FAILURES, 'invalid_expression', 'unknown_token', 'too_many_tokens', 'access_denied'],
    audit: one,
    handle: ({ principal, auditContext, params, body }) => runs.react(principal, auditContext, params.id, body),
  });
}

function trialRoutes(runs: RunCalls): RouteRecord[] {
  const trial = {
    ...base,
    permission: 'reactor:update',
    admits: ['application', 'user'],
    changesNothing: true,
    // It runs any code with the settings that are stored.
    stepUp: true,
    status: 200,
    response: TrialBody,
    failures: CODE_FAILURES,
  } as const;
  return [
    defineRoute({
      ...trial,
      path: '/reactors/test',
      describes: { body: CodeTrialDocument, rules: TRIAL_RULES },
      summary: 'Try code',
      description: 'Runs code without tokens or client, and shows what it prints. Nothing is kept.',
      example: { body: { code: 'module.exports = async (req) => ({ raw: req.args.n + 1 });', args: { n: 1 } } },
      audit: all,
      handle: ({ principal, auditContext, body }) => runs.test(principal.tenantId, auditContext, undefined, body),
    }),
    defineRoute({
      ...trial,
      path: '/reactors/:id/test',
      describes: { body: TrialDocument, rules: TRIAL_RULES },
      summary: 'Try a Reactor',
      description: 'The same with its own code and configuration, or others in their place.',
      optionalBody: true,
      example: { ...MADE, body: { args: { name: 'Ada' } } },
      audit: one,
      handle: ({ principal, auditContext, params, body }) =>
        runs.test(principal.tenantId, auditContext, params.id, body),
    }),
  ];
}

import type { RouteRecord } from '../../../http/routes/route.js';
import { defineRoute, ToPage, WithCookie } from '../../../http/routes/route.js';
import type { PortalVisit } from '../../../http/transport/portal-visit.js';
import { AppError } from '../../../kernel/errors.js';
import { isUuid } from '../../../kernel/ids.js';
import type { Secret } from '../../../kernel/secret.js';
import { ERRAND_COOKIE, ERRAND_SECONDS } from '../../../people/oidc/errand.js';
import { OIDC_CALLBACK_PATH } from '../../../people/oidc/oidc.js';
import type { Returned, UserIdentities } from '../../../people/oidc/user-identities.js';
import { AwayBody, BeginOidcBody, LinkIssuerBody } from '../schema.js';
import type { Portal } from '../service.js';
import { cookiesOf } from './cookie.js';
import { portalCall, portalPost, signedInOf, visitOf } from './portal-call.js';

/** Comes back with a navigation that another site began, as that of the session does not. */
const RULES = 'Path=/; HttpOnly; Secure; SameSite=Lax';
const FORGET = `${ERRAND_COOKIE}=; ${RULES}; Max-Age=0`;
/** Where refusals of somebody who was sent to an issuer are explained. The words are all of ours. */
const SIGN_IN_PAGE = '/portal/sign-in';
const ACCOUNT_PAGE = '/portal/account';

function sentAway({ url, kept }: { readonly url: string; readonly kept: Secret<string> }): WithCookie {
  return new WithCookie({ url }, `${ERRAND_COOKIE}=${kept.reveal()}; ${RULES}; Max-Age=${ERRAND_SECONDS}`);
}

/** Sign-in with an OpenID Connect issuer of the operator's choice. */
export function issuerRoutes(portal: Portal, identities: UserIdentities): RouteRecord[] {
  return [...awayRoutes(portal, identities), comingBackRoute(portal, identities), removeRoute(identities)];
}

function awayRoutes(portal: Portal, identities: UserIdentities): RouteRecord[] {
  const answer = { status: 200, response: AwayBody, failures: ['not_found', 'destination_unreachable'] } as const;
  return [
    defineRoute({
      ...portalPost('/oidc/begin', BeginOidcBody),
      ...answer,
      portal: 'everybody',
      summary: 'Begin to sign in with an issuer',
      description: 'Where to send the browser. With the secret of an invitation it is accepted as a newcomer.',
      handle: async (request) => {
        const { issuer_id: issuerId, secret } = request.body;
        const { visitor, signedIn } = visitOf(request);
        if (secret !== undefined) await portal.previewInvitation(secret, request.auditContext.atMs);
        const errand =
          secret === undefined
            ? ({ kind: 'sign-in', ...sessionIn(signedIn) } as const)
            : ({ kind: 'register', secret } as const);
        return sentAway(await identities.begin(issuerId, errand, visitor));
      },
    }),
    defineRoute({
      ...portalPost('/identities', LinkIssuerBody),
      ...answer,
      portal: 'stepped up',
      summary: 'Begin to link an account of an issuer',
      description: 'Where to send the browser. Whoever the issuer then vouches for can sign in as this user.',
      handle: async (request) => {
        const { userId, sessionId } = signedInOf(request);
        const errand = { kind: 'link', userId, sessionId } as const;
        return sentAway(await identities.begin(request.body.issuer_id, errand, visitOf(request).visitor));
      },
    }),
  ];
}

function sessionIn(signedIn: PortalVisit['signedIn']) {
  return signedIn && { userId: signedIn.userId, sessionId: signedIn.sessionId };
}

function comingBackRoute(portal: Portal, identities: UserIdentities): RouteRecord {
  return defineRoute({
    ...portalCall,
    method: 'GET',
    path: `${OIDC_CALLBACK_PATH}/:issuer_id`,
    portal: 'coming back',
    summary: 'Come back from an issuer',
    description: 'Answers with the way to a page of the Portal, whatever comes of it.',
    readQuery: queryTextOf,
    status: 204,
    handle: async (request) => {
      const { visitor, kept } = visitOf(request);
      const callback = `${OIDC_CALLBACK_PATH}/${encodeURIComponent(request.params.issuer_id ?? '')}?${request.filters}`;
      try {
        const returned = await identities.finish(kept, callback, visitor);
        if (returned.kind !== 'newcomer') return pageOf(returned);
        const { secret, voucher } = returned;
        const entered = await portal.registerVouched(secret, voucher, returned.visitor, request.auditContext);
        return pageOf({ kind: 'signed in', entered });
      } catch (error) {
        return explained(error);
      }
    },
  });
}

/** As it was sent, with repeated names. */
function queryTextOf(parameters: ReadonlyMap<string, readonly string[]>): string {
  const pairs = [...parameters].flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
  return new URLSearchParams(pairs).toString();
}

function pageOf(returned: Exclude<Returned, { kind: 'newcomer' }>): ToPage {
  if (returned.kind === 'signed in') return new ToPage('/portal/', FORGET, ...cookiesOf(returned.entered));
  if (returned.kind === 'linked') return new ToPage(`${ACCOUNT_PAGE}#oidc-linked`, FORGET);
  const page = ['taken', 'too-many'].includes(returned.why) ? ACCOUNT_PAGE : SIGN_IN_PAGE;
  return new ToPage(`${page}#oidc-${returned.why}`, FORGET);
}

/** A browser that navigates shows no JSON: the page says what is wrong. */
function explained(error: unknown): ToPage {
  if (!(error instanceof AppError)) throw error;
  const why = error.status === 503 ? 'unavailable' : error.status === 404 ? 'invitation' : 'taken';
  return new ToPage(`${SIGN_IN_PAGE}#oidc-${why}`, FORGET);
}

function removeRoute(identities: UserIdentities): RouteRecord {
  return defineRoute({
    ...portalCall,
    method: 'DELETE',
    path: '/portal/api/identities/:id',
    portal: 'stepped up',
    summary: 'Unlink an account of an issuer',
    description: 'The last thing that the user can sign in with stays.',
    status: 204,
    failures: ['not_found'],
    handle: async (request) => {
      const { id } = request.params;
      if (id === undefined || !isUuid(id)) throw new AppError('not_found', 'There is no such sign-in.');
      const entered = await identities.remove(signedInOf(request), id.toLowerCase(), visitOf(request).visitor);
      return new WithCookie(undefined, ...cookiesOf(entered));
    },
  });
}

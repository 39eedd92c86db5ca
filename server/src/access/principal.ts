import type { ApplicationType, Permission } from './permissions.js';
import type { MemberRole } from './roles.js';
import type { Grants } from './rules.js';

/** Who a request acts as. The tenant comes from here and from nowhere else. */
export type Principal = Application | Session | User;

/** What a route can let in; each kind has a credential of its own. */
export type PrincipalKind = Principal['kind'];

/** Whom a route lets in: kinds of principals, or anyone at all, who then stays unknown. */
export type Admits = 'anyone' | readonly PrincipalKind[];

/** What the handler of a route finds, by whom the route admits. */
export type PrincipalOf<A extends Admits> = A extends readonly (infer Kind)[]
  ? Extract<Principal, { readonly kind: Kind }>
  : undefined;

/** What every principal has. */
interface Acting<Kind extends string> {
  readonly kind: Kind;
  readonly tenantId: string;
  /** Whom the log names. */
  readonly actor: { readonly type: Kind; readonly id: string };
  /** Every permission held at all, plainly or by a rule. */
  readonly permissions: ReadonlySet<Permission>;
  /** All of these must grant an operation on a token, and the strictest transform counts. None grant nothing. */
  readonly grants: readonly Grants[];
}

/** An Application, by one of its API keys. */
export interface Application extends Acting<'application'> {
  readonly applicationId: string;
  readonly applicationType: ApplicationType;
  /** The key it came with. */
  readonly keyId: string;
}

/** A session, by its key: has its own grants, and mostly those of the Application that authorized it as a bound. */
export interface Session extends Acting<'session'> {
  /** The Application that authorized it; until then the one that created it. */
  readonly applicationId: string;
  /** Has rights at all. */
  readonly isAuthorized: boolean;
}

/** A person, by the cookie of a Portal session: management permissions of a role, and never token data. */
export interface User extends Acting<'user'> {
  readonly grants: readonly [];
  readonly role: MemberRole;
  readonly sessionId: string;
  /** Proved not long ago who it is. */
  readonly isFresh: boolean;
}

/** Secrets that are kept for Applications, such as settings of code, are not for every member, and not for a stolen cookie. */
export function maySeeSecrets(principal: Principal): boolean {
  return principal.kind !== 'user' || (principal.role !== 'READ_ONLY' && principal.isFresh);
}

/** The Application behind the credential, if there is one. */
export function applicationIdOf(principal: Principal): string | undefined {
  return principal.kind === 'user' ? undefined : principal.applicationId;
}

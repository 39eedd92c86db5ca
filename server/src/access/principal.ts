import type { ApplicationType, Permission } from './permissions.js';
import type { Grants } from './rules.js';

/** Who a request acts as. The tenant comes from here and from nowhere else. */
export interface Principal {
  readonly tenantId: string;
  /** The Application, or the one that authorized the session. */
  readonly applicationId: string;
  readonly applicationType: ApplicationType;
  /** The key of the Application it came with; a session has none. */
  readonly keyId?: string;
  /** Whom the log names. */
  readonly actor: { readonly type: 'application' | 'session'; readonly id: string };
  /** Every permission held at all, plainly or by a rule. */
  readonly permissions: ReadonlySet<Permission>;
  /** All of these must grant an operation, and the strictest transform counts: a session has two, others one. */
  readonly grants: readonly Grants[];
}

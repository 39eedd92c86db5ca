import type { Secret } from '../../kernel/secret.js';
import type { SignedIn } from '../../people/sessions/portal-sessions.js';
import type { Visitor } from '../../people/sign-in/entrance.js';

/** Whom a call of the Portal lets in. */
export type PortalDoor =
  | 'everybody'
  | 'signed in'
  | 'stepped up'
  /** Somebody whom another site sends back. It is taken for nobody; what it keeps has to prove why it went there. */
  | 'coming back';

/** Who visits the Portal, and from where. */
export interface PortalVisit {
  readonly visitor: Visitor;
  /** What the browser kept while it was at an issuer, where it comes back. */
  readonly kept?: Secret<string> | undefined;
  /** Undefined where nobody is, which only a call for everybody meets. */
  readonly signedIn: SignedIn | undefined;
}

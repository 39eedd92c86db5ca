import { decide, decideAll } from '../../access/decide.js';
import type { Principal } from '../../access/principal.js';
import type { Transform } from '../../access/rules.js';
import type { Shown } from '../../audit/entry.js';
import type { NewToken } from '../make/new-token.js';
import type { Preparation, PreparedToken } from '../make/prepare.js';
import { prepareToken } from '../make/prepare.js';
import { accessDenied } from '../open/open.js';
import type { OpenRow } from '../open/open-rows.js';
import { tieOf } from '../stored/names.js';
import type { OpenToken, Present } from './present.js';
import { bareBody } from './present.js';
import type { PresentedToken } from './token-body.js';

/** A token that may be made, and how much of it its maker gets to see. */
export interface GrantedToken {
  readonly token: PreparedToken;
  readonly transform: Transform;
}

/** Prepares a token its caller may make; 403 when one of its containers is out of reach. */
export function prepareGranted(
  preparation: Preparation,
  principal: Principal,
  input: NewToken,
  path: string,
): GrantedToken {
  const token = prepareToken(preparation, input, path);
  return { token, transform: granted(decideAll(principal, 'token:create', subjectOf(token))) };
}

export function subjectOf({ row, content }: OpenToken): {
  readonly id: string;
  readonly containers: readonly string[];
} {
  return { id: row.id, containers: content.containers };
}

export function granted(transform: Transform | undefined): Transform {
  if (transform === undefined) throw accessDenied();
  return transform;
}

/** A public key is in every browser, and so is a session: what they are told, anybody is told. */
export function isStranger(principal: Principal): boolean {
  return principal.kind !== 'application' || principal.applicationType === 'public';
}

/** What an answer shows, for keeping it no longer than the tokens in it. */
export function shownIn(bodies: readonly Pick<PresentedToken, 'id' | 'expires_at'>[]): Shown[] {
  return bodies.map(({ id, expires_at: expiresAt }) => {
    return { name: tieOf(id), expiresAtMs: expiresAt === undefined ? undefined : Date.parse(expiresAt) };
  });
}

/** The token deduplication led to, as far as the caller could have read it anyway. */
export function presentMatch(principal: Principal, present: Present, match: OpenRow, nowMs: number): PresentedToken {
  const transform = decide(principal, 'token:read', subjectOf(match));
  return transform === undefined ? bareBody(match) : present.body(match, transform, nowMs);
}

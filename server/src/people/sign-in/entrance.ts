import type { Secret } from '../../kernel/secret.js';
import type { PeopleTx } from '../../storage/scope.js';
import type { Devices } from '../devices/devices.js';
import type { Notices } from '../notices/notices.js';
import { notSignedIn } from '../sessions/not-signed-in.js';
import type { PortalClient, PortalSessions, SignedIn } from '../sessions/portal-sessions.js';
import type { UserRow } from '../users/queries.js';
import { listUsersById } from '../users/queries.js';
import { wrongSignIn } from './wrong-sign-in.js';

/** The browser somebody uses, and how limits count its address. */
export interface Visitor extends PortalClient {
  readonly limitKey: string;
  /** By which the browser is known, as it was sent. It proves nothing. */
  readonly device?: Secret<string> | undefined;
}

/** Somebody who just proved who it is. The secret is for the cookie alone. */
export interface Entered {
  readonly secret: Secret<string>;
  readonly session: SignedIn;
  readonly user: UserRow;
  /** By which the browser is known from now on; undefined where nothing was changed about that. */
  readonly device: Secret<string> | undefined;
}

/** Who proved what. */
export interface Proven {
  readonly userId: string;
  readonly hasSecondFactor: boolean;
  /** Who vouched for the user, where somebody else did. */
  readonly issuer?: string | undefined;
  /** When; now unless it is said. */
  readonly provenAtMs?: number;
  /** Until when at the latest: a session that takes the place of another one lives no longer than that. */
  readonly expiresAtMs?: number;
  /**
   * A sign-in unless it is said: the user is told of a browser it was not seen with. The first browser of a new account is no
   * news. Whoever is signed in already makes no browser known: with a stolen session it would do so unnoticed.
   */
  readonly occasion?: 'new account' | 'signed in already';
}

/** The last step of every way to sign in. */
export interface Entrance {
  /** Opens a session. One of before is ended: whoever knew its secret knows nothing now. */
  enter(tx: PeopleTx, proven: Proven, visitor: Visitor, earlier?: SignedIn): Promise<Entered>;
}

export interface EntranceOptions {
  readonly sessions: PortalSessions;
  readonly devices: Devices;
  readonly notices: Pick<Notices, 'tellOfDevice'>;
}

export function createEntrance({ sessions, devices, notices }: EntranceOptions): Entrance {
  async function meetDevice(tx: PeopleTx, { userId, occasion }: Proven, visitor: Visitor) {
    if (occasion === 'signed in already') return undefined;
    const { secret, isNew } = await devices.meet(tx, userId, visitor.device);
    if (isNew && occasion !== 'new account') await notices.tellOfDevice(tx, userId, visitor);
    return secret;
  }

  return {
    async enter(tx, proven, visitor, earlier) {
      const { userId, hasSecondFactor, issuer, provenAtMs, expiresAtMs } = proven;
      const { address, agent } = visitor;
      const isEnded = earlier && (await sessions.end(tx, earlier.userId, earlier.sessionId));
      // Whoever was thrown out meanwhile has proven nothing since.
      if (isEnded === false && proven.occasion === 'signed in already') throw notSignedIn();
      const session = { userId, hasSecondFactor, issuer, provenAtMs, expiresAtMs, address, agent };
      const opened = await sessions.open(tx, session);
      const [user] = await listUsersById(tx, [userId]);
      if (!user) throw wrongSignIn();
      return { ...opened, user, device: await meetDevice(tx, proven, visitor) };
    },
  };
}

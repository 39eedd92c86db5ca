import type { KeyObject } from 'node:crypto';
import { storageUnavailable } from '../kernel/errors.js';
import { grantsOf } from './grants.js';
import type { ApplicationType } from './permissions.js';
import { APPLICATION_TYPES } from './permissions.js';
import type { Application, Session } from './principal.js';
import type { ApplicationRights } from './queries.js';
import { isRightsMacValid } from './row-macs.js';
import type { Grants } from './rules.js';

/** A key that exists: whose it is and until when it works. */
export interface Credential {
  readonly principal: Application | Session;
  readonly expiresAtMs: number;
  /**
   * The hour of the last use that is stored or about to be stored. The recorder of uses (`applications/keys/uses.ts`)
   * updates this and the next field.
   */
  usedHour: number;
  /** When its use was last looked at. */
  usedRound: number;
}

const HOUR_MS = 3_600_000;

/** Whole hours since the epoch. */
export function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS);
}

/** Which stored row was changed outside the product. */
export interface IntegrityStory {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly sessionId?: string;
}

/** What the readers of stored credentials have in common. */
export interface StoredRights {
  /** The rights of an Application's row. A row whose MAC does not fit opens nothing. */
  of(tenantId: string, row: ApplicationRights): { readonly type: ApplicationType; readonly grants: Grants };
  /** Reports a row that was altered, and ends the request. */
  refuse(story: IntegrityStory): never;
}

export interface StoredRightsOptions {
  readonly rowMacKey: KeyObject;
  readonly onIntegrityFault: (story: IntegrityStory) => void;
}

export function createStoredRights({ rowMacKey, onIntegrityFault }: StoredRightsOptions): StoredRights {
  function refuse(story: IntegrityStory): never {
    onIntegrityFault(story);
    throw storageUnavailable(new Error('the rights behind this key were changed outside the product'));
  }

  return {
    refuse,
    of(tenantId, row) {
      const { application_id: id, type, permissions, rules, application_expires_at: expiresAt } = row;
      const isGenuine = isRightsMacValid(rowMacKey, { tenantId, id, type, permissions, rules, expiresAt }, row.mac);
      if (!isApplicationType(type) || !isGenuine) return refuse({ tenantId, applicationId: id });
      return { type, grants: grantsOf(type, permissions, rules) };
    },
  };
}

function isApplicationType(text: string): text is ApplicationType {
  return (APPLICATION_TYPES as readonly string[]).includes(text);
}

/** The first of several ends, of which each may be missing. */
export function earliest(...ends: readonly (Date | null)[]): number {
  return Math.min(...ends.map((end) => end?.getTime() ?? Number.POSITIVE_INFINITY));
}

import type { FieldErrors } from '../../../kernel/errors.js';
import { validationFailed } from '../../../kernel/errors.js';
import { applyPatch } from '../input/apply-patch.js';
import type { TokenPatch } from '../input/token-patch.js';
import type { TokenContent } from '../stored/content.js';
import { groupIdOf } from '../stored/names.js';
import type { TokenRow } from '../stored/row.js';
import { sealContent } from '../stored/seal.js';
import { hasCvc } from '../types/cvc.js';
import type { OpenRow } from './open.js';
import type { Preparation } from './prepare.js';
import { CVC_LIFETIME_MS, fingerprint, keptFingerprint, keptTermsOf, termsOf } from './prepare.js';
import { liveData } from './present.js';

/** What one request can bring, with some room for what is stored beside it: merging again and again must not go on for ever. */
const TOKEN_BYTES_MAX = 1_048_576 + 16_384;
const TOO_LARGE = 'would make the token larger than 1 MiB; split it into several';

/** A token as it will be. */
export interface ChangedToken {
  readonly token: OpenRow;
  /** The fingerprint is another one than before, and deduplication asks who has it. */
  readonly isToBeClaimed: boolean;
}

/** Works out what a patch makes of a token; throws a 400 that names what does not fit. */
export function changeToken(preparation: Preparation, { row, content }: OpenRow, patch: TokenPatch): ChangedToken {
  const { act, settings, keys } = preparation;
  const { content: changed, faults } = applyPatch({ ...content, data: liveData(row, content, act.atMs) }, patch);
  refuse(faults);
  const isDeduplicated = patch.deduplicate ?? settings.isDeduplicating;
  const isFingerprinted =
    isDeduplicated ||
    settings.isFingerprinting ||
    changed.fingerprintExpression !== undefined ||
    (row.fingerprint !== null && content.fingerprintExpression === undefined);
  const print = isFingerprinted ? printOf(preparation, changed, patch) : null;
  const place = { tenant_id: row.tenant_id, id: row.id, data_version: row.data_version + 1 };
  const sealed = sealContent(keys, place, changed);
  if (sealed.length > TOKEN_BYTES_MAX && sealed.length > row.sealed.length) throw validationFailed({ $: [TOO_LARGE] });
  const isChangedPrint = print !== null && (row.fingerprint === null || !print.equals(row.fingerprint));
  return {
    isToBeClaimed: isDeduplicated && isChangedPrint,
    token: {
      content: changed,
      row: {
        ...row,
        ...place,
        group_id: groupIdOf(changed.type, changed.containers),
        modified_by: act.actor?.id ?? null,
        modified_at: new Date(act.atMs),
        expires_at: expiryOf(row, patch),
        cvc_expires_at: cvcExpiryOf(preparation, row, patch, changed),
        fingerprint: print,
        terms: patch.searchIndexes ? termsOf(preparation, changed, '') : keptTermsOf(preparation, changed),
        sealed,
      },
    },
  };
}

function printOf(preparation: Preparation, changed: TokenContent, patch: TokenPatch): Buffer | null {
  return patch.fingerprintExpression ? fingerprint(preparation, changed, '') : keptFingerprint(preparation, changed);
}

function expiryOf(row: TokenRow, { expiresAtMs }: TokenPatch): Date | null {
  if (expiresAtMs === undefined) return row.expires_at;
  return expiresAtMs === null ? null : new Date(expiresAtMs);
}

/** The hour runs from the change that set the code; any other change leaves it running. */
function cvcExpiryOf({ act }: Preparation, row: TokenRow, patch: TokenPatch, changed: TokenContent): Date | null {
  if (!hasCvc(changed.type, changed.data)) return null;
  const isSetNow = patch.data !== undefined && hasCvc(changed.type, patch.data);
  return isSetNow || row.cvc_expires_at === null ? new Date(act.atMs + CVC_LIFETIME_MS) : row.cvc_expires_at;
}

function refuse(faults: FieldErrors): void {
  if (Object.keys(faults).length > 0) throw validationFailed(faults);
}

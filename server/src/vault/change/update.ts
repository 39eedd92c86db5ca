import { validationFailed } from '../../kernel/errors.js';
import type { Json } from '../../kernel/json.js';
import { hasMoreThan } from '../../kernel/json-walk.js';
import type { Preparation } from '../make/prepare.js';
import {
  CVC_LIFETIME_MS,
  changedTermsOf,
  fingerprint,
  isDeduplicating,
  keptFingerprint,
  keptTermsOf,
} from '../make/prepare.js';
import type { OpenRow } from '../open/open-rows.js';
import { liveData } from '../present/present.js';
import type { TokenContent } from '../stored/content.js';
import { isMatchedAlike, matchDigestOf } from '../stored/match.js';
import { groupIdOf } from '../stored/names.js';
import type { TokenRow } from '../stored/row.js';
import { sealContent } from '../stored/seal.js';
import { hasCvc } from '../types/cvc.js';
import { givesAway, secretNumberOf } from '../types/numbers.js';
import { applyPatch } from './apply-patch.js';
import type { TokenPatch } from './token-patch.js';

/** What one request can bring, with some room for what is stored beside it: merging again and again must not go on for ever. */
const TOKEN_BYTES_MAX = 1_048_576 + 16_384;
/** Values of one body, with some room too. A token of more would keep every read and list of it busy for long. */
const TOKEN_VALUES_MAX = 10_000 + 100;
/** A shorter record cannot have so many values. */
const MANY_VALUES_BYTES = 2 * TOKEN_VALUES_MAX;
const TOO_LARGE = 'would make the token larger than 1 MiB or 10,000 values; split it into several';

/** A token as it will be. */
export interface ChangedToken {
  readonly token: OpenRow;
  /** Fingerprint, containers, mask or end are others than before, and deduplication asks who has these. */
  readonly isToBeClaimed: boolean;
}

const NUMBER_IN_ID = 'must not bring a number that stands in the id of the token; create a new token instead';

/** What a patch makes of what a token says, before anything is evaluated. */
export function mergeChange({ row, content }: OpenRow, patch: TokenPatch, nowMs: number) {
  const before: TokenContent = { ...content, data: liveData(row, content, nowMs) };
  const { content: after, faults } = applyPatch(before, patch);
  const isGivenAway = ({ type, data }: TokenContent) => givesAway(row.id, secretNumberOf(type, data));
  if (patch.data !== undefined && isGivenAway(after) && !isGivenAway(before)) faults.data ??= [NUMBER_IN_ID];
  return { before, after, faults };
}

/** Works out the token that says `changed` from now on; throws a 400 that names the field whose expression failed. */
export function workOutChange(
  preparation: Preparation,
  { row, content }: OpenRow,
  changed: TokenContent,
  patch: TokenPatch,
): ChangedToken {
  const { auditContext, settings, keys } = preparation;
  const isDeduplicated = isDeduplicating(preparation, patch.deduplicate, changed.containers);
  const isFingerprinted =
    isDeduplicated ||
    settings.isFingerprinting ||
    changed.fingerprintExpression !== undefined ||
    (row.fingerprint !== null && content.fingerprintExpression === undefined);
  const print = isFingerprinted ? printOf(preparation, changed, patch) : null;
  const rowKey = { tenant_id: row.tenant_id, id: row.id, data_version: row.data_version + 1 };
  const sealed = sealContent(keys, rowKey, changed);
  const isSamePrint = print !== null && row.fingerprint !== null && print.equals(row.fingerprint);
  const groupId = groupIdOf(changed.type, changed.containers);
  const expiresAt = expiryOf(row, patch);
  const isSameGroup =
    groupId === row.group_id && expiresAt?.getTime() === row.expires_at?.getTime() && isMatchedAlike(content, changed);
  return {
    isToBeClaimed: isDeduplicated && print !== null && !(isSamePrint && isSameGroup),
    token: {
      content: changed,
      row: {
        ...row,
        ...rowKey,
        group_id: groupId,
        modified_by: auditContext.actor?.id ?? null,
        modified_at: new Date(auditContext.atMs),
        expires_at: expiresAt,
        cvc_expires_at: cvcExpiryOf(preparation, row, patch, changed),
        fingerprint: print,
        terms: patch.searchIndexes ? changedTermsOf(preparation, changed) : keptTermsOf(preparation, changed),
        sealed,
        match_digest: print === null ? null : matchDigestOf(keys, changed),
      },
    },
  };
}

/** Throws a 400 for a change that makes a token larger than a request could. */
export function refuseTooLarge({ row: before }: OpenRow, { row: after, content }: OpenRow): void {
  const { length } = after.sealed;
  if (length <= before.sealed.length) return;
  const hasManyValues = length > MANY_VALUES_BYTES && hasMoreThan(partsOf(content), TOKEN_VALUES_MAX);
  if (length > TOKEN_BYTES_MAX || hasManyValues) throw validationFailed({ $: [TOO_LARGE] });
}

function partsOf({ data, mask = null, metadata = {}, encryption = null }: TokenContent): Json {
  return [data, mask, metadata, encryption];
}

function printOf(preparation: Preparation, changed: TokenContent, patch: TokenPatch): Buffer | null {
  return patch.fingerprintExpression ? fingerprint(preparation, changed, '') : keptFingerprint(preparation, changed);
}

function expiryOf(row: TokenRow, { expiresAtMs }: TokenPatch): Date | null {
  if (expiresAtMs === undefined) return row.expires_at;
  return expiresAtMs === null ? null : new Date(expiresAtMs);
}

/** The hour runs from the change that set the code; any other change leaves it running. */
function cvcExpiryOf(
  { auditContext }: Preparation,
  row: TokenRow,
  patch: TokenPatch,
  changed: TokenContent,
): Date | null {
  if (!hasCvc(changed.type, changed.data)) return null;
  const isSetNow = patch.data !== undefined && hasCvc(changed.type, patch.data);
  return isSetNow || row.cvc_expires_at === null ? new Date(auditContext.atMs + CVC_LIFETIME_MS) : row.cvc_expires_at;
}

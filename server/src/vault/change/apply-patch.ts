import type { FieldErrors } from '../../kernel/errors.js';
import type { Faults } from '../../kernel/field-faults.js';
import { addFault, faultsUnder } from '../../kernel/field-faults.js';
import type { Json } from '../../kernel/json.js';
import { containerOf } from '../make/containers.js';
import type { Privacy, TokenContent } from '../stored/content.js';
import { TOKEN_TYPE_CATALOGUE } from '../types/catalogue.js';
import { isTooMuchMetadata, mergeMetadata, TOO_MANY_ENTRIES } from './merge-metadata.js';
import { mergePatch } from './merge-patch.js';
import type { TokenPatch } from './token-patch.js';

/**
 * What a token says after a change. The outcome is checked as a new token would be; with any fault it must not be stored.
 * A cvc whose time is over has to be taken out of the content before.
 */
export function applyPatch(
  content: TokenContent,
  patch: TokenPatch,
): { readonly content: TokenContent; readonly faults: FieldErrors } {
  const faults = faultsUnder({}, '');
  if (patch.type !== undefined && patch.type !== content.type) {
    addFault(faults, 'type', 'cannot be changed; create a new token instead');
  }
  const privacy = patchedPrivacy(content, patch, faults);
  return {
    content: {
      type: content.type,
      data: patchedData(content, patch, faults),
      containers: patch.containers === null ? [containerOf(privacy)] : (patch.containers ?? content.containers),
      metadata: patchedMetadata(content, patch, faults),
      mask: patchedMask(content, patch),
      searchIndexes: replaced(content.searchIndexes, patch.searchIndexes),
      fingerprintExpression: replaced(content.fingerprintExpression, patch.fingerprintExpression),
      privacy,
      encryption: replaced(content.encryption, patch.encryption),
    },
    faults: faults.errors,
  };
}

function replaced<Value>(stored: Value | undefined, patch: Value | null | undefined): Value | undefined {
  return patch === undefined ? stored : (patch ?? undefined);
}

function patchedData({ type, data }: TokenContent, patch: TokenPatch, faults: Faults): Json {
  if (patch.data === undefined) return data;
  const merged = mergePatch(data, patch.data);
  for (const { path, message } of TOKEN_TYPE_CATALOGUE[type].check(merged)) addFault(faults, path, message);
  return merged;
}

/** A token without a mask of its own shows that of its type, so that is what a client means to merge into. */
function patchedMask({ type, mask }: TokenContent, patch: TokenPatch): Json | undefined {
  if (patch.mask === undefined) return mask;
  return patch.mask === null ? undefined : mergePatch(mask ?? TOKEN_TYPE_CATALOGUE[type].mask, patch.mask);
}

function patchedMetadata({ metadata }: TokenContent, patch: TokenPatch, faults: Faults): TokenContent['metadata'] {
  if (patch.metadata === undefined) return metadata;
  if (patch.metadata === null) return undefined;
  const merged = mergeMetadata(metadata ?? {}, patch.metadata);
  if (isTooMuchMetadata(merged)) addFault(faults, 'metadata', TOO_MANY_ENTRIES);
  return merged;
}

/** The classification may be repeated. Level and policy may change, and with null go back to those of the type. */
function patchedPrivacy({ type, privacy }: TokenContent, patch: TokenPatch, faults: Faults): Privacy {
  if (patch.privacy === undefined) return privacy;
  const { impact_level: level, restriction_policy: policy } = TOKEN_TYPE_CATALOGUE[type].privacy;
  if (patch.privacy === null) return { ...privacy, impact_level: level, restriction_policy: policy };
  const { classification } = patch.privacy;
  if (classification !== undefined && classification !== null && classification !== privacy.classification) {
    addFault(faults, 'privacy.classification', 'cannot be changed; create a new token instead');
  }
  return {
    classification: privacy.classification,
    impact_level: replaced(privacy.impact_level, patch.privacy.impact_level) ?? level,
    restriction_policy: replaced(privacy.restriction_policy, patch.privacy.restriction_policy) ?? policy,
  };
}

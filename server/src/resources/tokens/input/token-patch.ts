import type { FieldErrors } from '../../../kernel/errors.js';
import { addFault, faultsUnder } from '../../../kernel/field-faults.js';
import type { Json } from '../../../kernel/json.js';
import { isJsonObject } from '../../../kernel/json-object.js';
import { refuseUnsafeNumbers } from '../../../kernel/unsafe-numbers.js';
import type { TokenPatch } from '../../../vault/index.js';
import { readContainers } from './containers.js';
import type { InputContext } from './fields.js';
import {
  readDeduplicate,
  readEncryption,
  readExpiry,
  readFingerprintExpression,
  readMask,
  readSearchIndexes,
  readType,
} from './fields.js';
import { readMetadataPatch } from './metadata.js';
import { readPrivacy } from './privacy.js';

/** Reads a change as far as it can be judged without the token. An `id` is ignored: the path says which token it is. */
export function readTokenPatch(body: unknown, context: InputContext, errors: FieldErrors): TokenPatch | undefined {
  const faults = faultsUnder(errors, context.path);
  if (!isJsonObject(body)) {
    addFault(faults, '', 'must be an object');
    return undefined;
  }
  if (body.data === null) addFault(faults, 'data', 'must not be null; delete the token instead');
  else if (body.data !== undefined) refuseUnsafeNumbers(body.data, 'data', faults);
  const patch: TokenPatch = {
    type: given(body.type, (value) => readType(value, faults)) ?? undefined,
    data: body.data,
    mask: given(body.mask, (value) => readMask(value, context, faults)),
    metadata: given(body.metadata, (value) => readMetadataPatch(value, faults)),
    containers: given(body.containers, (value) => readContainers(value, faults)),
    searchIndexes: given(body.search_indexes, (value) => readSearchIndexes(value, faults)),
    fingerprintExpression: given(body.fingerprint_expression, (value) => readFingerprintExpression(value, faults)),
    deduplicate: given(body.deduplicate_token, (value) => readDeduplicate(value, faults)) ?? undefined,
    expiresAtMs: given(body.expires_at, (value) => readExpiry(value, context.nowMs, faults)),
    privacy: given(body.privacy, (value) => readPrivacy(value, faults)),
    encryption: given(body.encryption, (value) => readEncryption(value, context, faults)),
  };
  return faults.count > 0 ? undefined : patch;
}

function given<Value>(value: Json | undefined, read: (value: Json) => Value): Value | null | undefined {
  return value === undefined || value === null ? value : read(value);
}

import { expressionFault, isIdExpression } from '../../../expressions/expression-text.js';
import type { FieldErrors } from '../../../kernel/errors.js';
import type { Faults } from '../../../kernel/field-faults.js';
import { addFault, faultsUnder } from '../../../kernel/field-faults.js';
import type { Json } from '../../../kernel/json.js';
import { isJsonObject } from '../../../kernel/json-object.js';
import { refuseUnsafeNumbers } from '../../../kernel/unsafe-numbers.js';
import type { NewToken, TokenType } from '../../../vault/index.js';
import { idFault, settleContainers, TOKEN_TYPE_CATALOGUE } from '../../../vault/index.js';
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
import { readMetadata } from './metadata.js';
import { readPrivacy } from './privacy.js';

/**
 * Reads the request for a token and reports everything that is wrong with it at once. A member that is null counts as
 * left out; members not named here, and those the server sets, are ignored. Written out field by field because every
 * create passes through here.
 */
export function readNewToken(body: unknown, context: InputContext, errors: FieldErrors): NewToken | undefined {
  const faults = faultsUnder(errors, context.path);
  if (!isJsonObject(body)) {
    addFault(faults, '', 'must be an object');
    return undefined;
  }
  const type = isGiven(body.type) ? readType(body.type, faults) : 'token';
  const data = readData(type, body.data, faults);
  const id = isGiven(body.id) ? readId(body.id, faults) : undefined;
  const containers = isGiven(body.containers) ? readContainers(body.containers, faults) : undefined;
  const privacy = isGiven(body.privacy) ? readPrivacy(body.privacy, faults) : undefined;
  const token = {
    mask: isGiven(body.mask) ? readMask(body.mask, context, faults) : undefined,
    metadata: isGiven(body.metadata) ? readMetadata(body.metadata, faults) : undefined,
    searchIndexes: isGiven(body.search_indexes) ? readSearchIndexes(body.search_indexes, faults) : undefined,
    fingerprintExpression: isGiven(body.fingerprint_expression)
      ? readFingerprintExpression(body.fingerprint_expression, faults)
      : undefined,
    deduplicate: isGiven(body.deduplicate_token) ? readDeduplicate(body.deduplicate_token, faults) : undefined,
    expiresAtMs: isGiven(body.expires_at) ? readExpiry(body.expires_at, context.nowMs, faults) : undefined,
    encryption: isGiven(body.encryption) ? readEncryption(body.encryption, context, faults) : undefined,
  };
  if (faults.count > 0 || type === undefined) return undefined;
  return { id, type, data, ...settleContainers(type, containers, privacy), ...token };
}

/** The generic token that tokenizing makes of a bare value. */
export function newGenericToken(data: Json): NewToken {
  return {
    id: undefined,
    type: 'token',
    data,
    ...settleContainers('token', undefined, undefined),
    mask: undefined,
    metadata: undefined,
    searchIndexes: undefined,
    fingerprintExpression: undefined,
    deduplicate: undefined,
    expiresAtMs: undefined,
    encryption: undefined,
  };
}

function isGiven(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null;
}

function readData(type: TokenType | undefined, value: Json | undefined, faults: Faults): Json {
  if (!isGiven(value)) {
    addFault(faults, 'data', 'is required');
    return null;
  }
  refuseUnsafeNumbers(value, 'data', faults);
  if (type === undefined) return value;
  for (const { path, message } of TOKEN_TYPE_CATALOGUE[type].check(value)) addFault(faults, path, message);
  return value;
}

function readId(value: Json, faults: Faults): string | undefined {
  if (typeof value !== 'string') {
    addFault(faults, 'id', 'must be a string');
    return undefined;
  }
  const message = isIdExpression(value) ? expressionFault(value) : idFault(value);
  if (message !== undefined) addFault(faults, 'id', message);
  return value;
}

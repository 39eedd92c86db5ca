import type { Faults } from '../../../kernel/field-faults.js';
import { addFault } from '../../../kernel/field-faults.js';
import type { Json } from '../../../kernel/json.js';
import { isJsonObject } from '../../../kernel/json-object.js';
import { hasForbiddenCharacters } from '../../../kernel/text.js';
import type { ConfigurationPatch, GivenBody } from '../../definitions/input.js';
import {
  checkSize,
  isGiven,
  mergedConfiguration,
  patchBody,
  readApplication,
  readApplicationId,
  readCode,
  readConfiguration,
  readName,
  readText,
  textFault,
  throwFaults,
  wholeBody,
} from '../../definitions/input.js';
import { DESTINATION_LENGTH_MAX, REACTOR_ID_LENGTH_MAX } from '../schema.js';
import type { ProxyDefinition } from './content.js';
import { destinationFault } from './destination.js';

/** A change: what is undefined stays, what is null goes. */
export interface ProxyPatch {
  readonly name: string | undefined;
  readonly destinationUrl: string | undefined;
  readonly requestTransform: string | null | undefined;
  readonly responseTransform: string | null | undefined;
  readonly configuration: ConfigurationPatch | null | undefined;
  readonly applicationId: string | null | undefined;
  readonly requireAuth: boolean | null | undefined;
  readonly requestReactorId: string | null | undefined;
  readonly responseReactorId: string | null | undefined;
}

const NEEDED = ['name', 'destination_url'];
const NOTHING: ProxyDefinition = {
  ...{ name: '', destinationUrl: '', requestTransform: null, responseTransform: null },
  ...{ configuration: {}, applicationId: null, requireAuth: true, requestReactorId: null, responseReactorId: null },
};

/** A whole Proxy, as POST and PUT take it. */
export function readProxy(body: unknown): ProxyDefinition {
  return applyProxyPatch(NOTHING, readFields(wholeBody(body, NEEDED)));
}

/** A change by merge patch (RFC 7386). */
export function readProxyPatch(body: unknown): ProxyPatch {
  return readFields(patchBody(body, NEEDED));
}

/** What a Proxy says after a change; 400 if that is more than one may say. */
export function applyProxyPatch(before: ProxyDefinition, patch: ProxyPatch): ProxyDefinition {
  const after = {
    name: patch.name ?? before.name,
    destinationUrl: patch.destinationUrl ?? before.destinationUrl,
    requestTransform: given(patch.requestTransform, before.requestTransform),
    responseTransform: given(patch.responseTransform, before.responseTransform),
    configuration: mergedConfiguration(before.configuration, patch.configuration),
    applicationId: given(patch.applicationId, before.applicationId),
    requireAuth: given(patch.requireAuth, before.requireAuth) ?? NOTHING.requireAuth,
    requestReactorId: given(patch.requestReactorId, before.requestReactorId),
    responseReactorId: given(patch.responseReactorId, before.responseReactorId),
  };
  checkSize(after.configuration, [after.requestTransform, after.responseTransform]);
  return after;
}

function given<T>(change: T | undefined, before: T): T {
  return change === undefined ? before : change;
}

/** `application` counts where both ways to name one are used. */
export function applicationPathIn(body: unknown): string {
  return isJsonObject(body) && isGiven(body.application) ? 'application.id' : 'application_id';
}

function readFields({ given: body, faults }: GivenBody): ProxyPatch {
  const whole = readApplication(body.application, faults);
  const flat = readApplicationId(body.application_id, 'application_id', faults);
  const patch = {
    name: readName(body.name, faults),
    destinationUrl: readText(body.destination_url, 'destination_url', faults, urlFault),
    requestTransform: readTransform(body.request_transform, 'request_transform', faults),
    responseTransform: readTransform(body.response_transform, 'response_transform', faults),
    configuration: readConfiguration(body.configuration, faults),
    applicationId: isGiven(whole) ? whole : flat === undefined ? whole : flat,
    requireAuth: readFlag(body.require_auth, 'require_auth', faults),
    requestReactorId: readReactorId(body.request_reactor_id, 'request_reactor_id', faults),
    responseReactorId: readReactorId(body.response_reactor_id, 'response_reactor_id', faults),
  };
  throwFaults(faults);
  return patch;
}

function urlFault(value: Json): string | undefined {
  return textFault(value, DESTINATION_LENGTH_MAX) ?? destinationFault(String(value));
}

/**
 * `{}` says nothing, and `{ "code": null }` that there is none. One that says something else is refused: what its sender expects
 * of it would not happen.
 */
function readTransform(value: Json | undefined, field: string, faults: Faults): string | null | undefined {
  if (!isGiven(value)) return value;
  if (!isJsonObject(value)) {
    addFault(faults, field, 'must be an object with code');
    return undefined;
  }
  if (value.code === null) return null;
  if (value.code === undefined && Object.values(value).some(isGiven)) {
    addFault(faults, `${field}.code`, 'is required: a transform is code');
  }
  return readCode(value.code, `${field}.code`, faults);
}

function readFlag(value: Json | undefined, field: string, faults: Faults): boolean | null | undefined {
  if (!isGiven(value) || typeof value === 'boolean') return value;
  addFault(faults, field, 'must be true or false');
  return undefined;
}

/** Clients send an empty one for none. */
function readReactorId(value: Json | undefined, field: string, faults: Faults): string | null | undefined {
  if (!isGiven(value)) return value;
  if (value === '') return null;
  return readText(value, field, faults, (text) => textFault(text, REACTOR_ID_LENGTH_MAX) ?? characterFault(text));
}

function characterFault(text: Json): string | undefined {
  return hasForbiddenCharacters(String(text)) ? 'must not hold NUL or unpaired surrogates' : undefined;
}

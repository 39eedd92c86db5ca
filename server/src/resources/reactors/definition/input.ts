import { addFault } from '../../../kernel/field-faults.js';
import type { Json } from '../../../kernel/json.js';
import type { ConfigurationPatch, GivenBody } from '../../definitions/input.js';
import {
  checkSize,
  isGiven,
  mergedConfiguration,
  objectOf,
  patchBody,
  readApplication,
  readCode,
  readConfiguration,
  readName,
  throwFaults,
  wholeBody,
} from '../../definitions/input.js';
import type { Configuration } from '../../definitions/kind.js';
import type { ReactorDefinition } from './content.js';

/** A change: what is undefined stays, what is null goes. */
export interface ReactorPatch {
  readonly name: string | undefined;
  readonly code: string | undefined;
  readonly configuration: ConfigurationPatch | null | undefined;
  readonly applicationId: string | null | undefined;
}

const NEEDED = ['name', 'code'];

/** A whole Reactor, as POST and PUT take it. */
export function readReactor(body: unknown): ReactorDefinition {
  const patch = readFields(wholeBody(body, NEEDED));
  return applyReactorPatch({ name: '', code: '', configuration: {}, applicationId: null }, patch);
}

/** A change by merge patch (RFC 7386). */
export function readReactorPatch(body: unknown): ReactorPatch {
  return readFields(patchBody(body, NEEDED));
}

/** What a trial run gets; what is left out is the Reactor's own. */
export interface TrialInput {
  readonly code: string | undefined;
  readonly configuration: Configuration | undefined;
  readonly args: Json;
}

/** Without a Reactor there is no code but what is sent. */
export function readTrial(body: unknown, hasReactor: boolean): TrialInput {
  const { given, faults } = objectOf(body);
  if (!hasReactor && !isGiven(given.code)) addFault(faults, 'code', 'is required');
  const code = readCode(given.code, 'code', faults);
  const configuration = readConfiguration(given.configuration, faults);
  throwFaults(faults);
  return {
    code,
    configuration: isGiven(given.configuration) ? mergedConfiguration({}, configuration) : undefined,
    args: given.args ?? {},
  };
}

/** What a Reactor says after a change; 400 if that is more than one may say. */
export function applyReactorPatch(before: ReactorDefinition, patch: ReactorPatch): ReactorDefinition {
  const after = {
    name: patch.name ?? before.name,
    code: patch.code ?? before.code,
    configuration: mergedConfiguration(before.configuration, patch.configuration),
    applicationId: patch.applicationId === undefined ? before.applicationId : patch.applicationId,
  };
  checkSize(after.configuration, [after.code]);
  return after;
}

function readFields({ given, faults }: GivenBody): ReactorPatch {
  const patch = {
    name: readName(given.name, faults),
    code: readCode(given.code, 'code', faults),
    configuration: readConfiguration(given.configuration, faults),
    applicationId: readApplication(given.application, faults),
  };
  throwFaults(faults);
  return patch;
}

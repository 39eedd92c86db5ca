import type { Opened, SharedDefinition } from '../../definitions/kind.js';
import { createSealing } from '../../definitions/sealing.js';
import type { ReactorRow } from '../queries.js';
import type { ReactorBody, ReactorVersionBody, ReactorWithSecretBody } from '../schema.js';
import type { ReactorPatch } from './input.js';

/** What a version of a Reactor says. */
export interface ReactorDefinition extends SharedDefinition {
  readonly code: string;
}

/** What is sealed of a Reactor. */
export interface ReactorContent extends ReactorDefinition {
  readonly callbackSecret: string;
}

export interface ReactorShape {
  readonly row: ReactorRow;
  readonly definition: ReactorDefinition;
  readonly kept: Pick<ReactorContent, 'callbackSecret'>;
  readonly patch: ReactorPatch;
  readonly body: ReactorBody;
  readonly newBody: ReactorWithSecretBody;
  readonly versionBody: ReactorVersionBody;
}

/** A Reactor with what it says. */
export type OpenedReactor = Opened<ReactorShape>;

/** How a definition is written into a record. It lasts for ever: another form is another number. */
interface Stored {
  readonly format: 1;
  readonly name: string;
  readonly code: string;
  readonly configuration: ReactorDefinition['configuration'];
  readonly application_id: string | null;
  readonly callback_secret?: string;
}

export const REACTOR_SEALING = createSealing<ReactorShape>({
  title: 'Reactor',
  context: 'reactor',
  write({ name, code, configuration, applicationId }, kept): Stored {
    const said = { name, code, configuration, application_id: applicationId };
    return { format: 1, ...said, ...(kept && { callback_secret: kept.callbackSecret }) };
  },
  read(given) {
    const stored = given as Stored; // It was sealed here, so it has one of the forms there are.
    if (stored.format !== 1) throw new Error('a Reactor was written by a newer release');
    const { name, code, configuration, application_id: applicationId, callback_secret: callbackSecret } = stored;
    return {
      definition: { name, code, configuration, applicationId },
      kept: callbackSecret === undefined ? undefined : { callbackSecret },
    };
  },
  isFitting: () => true,
});
export const { open: openReactor, openVersion } = REACTOR_SEALING;

import { LOWER_CASE_ALPHANUMERICS, randomText } from '../../../crypto/random-text.js';
import type { DefinitionKind } from '../../definitions/kind.js';
import { REACTOR_EVENTS } from '../events.js';
import { REACTOR_ROWS } from '../queries.js';
import { REACTOR_VERSIONS } from '../versions/queries.js';
import { reactorBodyOf, reactorVersionOf, reactorWithSecretOf } from './body.js';
import type { ReactorShape } from './content.js';
import { REACTOR_SEALING } from './content.js';
import { applyReactorPatch, readReactor, readReactorPatch } from './input.js';

/** 206 bits. */
const SECRET_LENGTH = 40;

export const REACTOR_KIND: DefinitionKind<ReactorShape> = {
  title: 'Reactor',
  path: '/reactors',
  rows: REACTOR_ROWS,
  versions: REACTOR_VERSIONS,
  sealing: REACTOR_SEALING,
  events: REACTOR_EVENTS,
  notice: 'reactor',
  keptOf: ({ callbackSecret }) => ({ callbackSecret }),
  columnsOf: () => ({}),
  read: readReactor,
  readPatch: readReactorPatch,
  applyPatch: applyReactorPatch,
  applicationPath: () => 'application.id',
  bodyOf: reactorBodyOf,
  newBodyOf: reactorWithSecretOf,
  versionBodyOf: reactorVersionOf,
};

export function newCallbackSecret(): string {
  return `rcs_${randomText(LOWER_CASE_ALPHANUMERICS, SECRET_LENGTH)}`;
}

import { SECOND_MS } from '../../jobs/job-record.js';
import type { Slice } from '../slice.js';
import type { ChangesOptions } from './definition/changes.js';
import { APPLICATION_EVENTS, SESSION_END_EVENTS } from './events.js';
import { sweepAccess } from './expiry/sweep.js';
import { applicationRoutes } from './routes.js';
import { createApplications } from './service.js';
import { APPLICATION_TABLES } from './tables.js';

export type { AccessHooks, ChangesOptions, SecurityStory } from './definition/changes.js';
export type { CreatedApplication, NewApplication } from './definition/create.js';
export { createApplication } from './definition/create.js';
export { checkTimedRights } from './definition/definition.js';
export type { ApplicationNames, NamedApplication } from './definition/named.js';
export { createApplicationNames } from './definition/named.js';
export { APPLICATION_EVENTS, SESSION_END_EVENTS } from './events.js';
export { expireApplications } from './expiry/sweep.js';
export type { KeyTimesRow } from './keys/queries.js';
export { listKeyTimes } from './keys/queries.js';
export type { KeyUses } from './keys/uses.js';
export { createKeyUses, writeKeyUses } from './keys/uses.js';
export { ApplicationTypeName, ExpiresAtInput, Pagination, PermissionNames, RuleBody, RuleInputs } from './schema.js';
export { createApplications } from './service.js';

export const applications: Slice<ChangesOptions> = {
  name: 'applications',
  routes: (parts) => applicationRoutes(createApplications(parts)),
  events: [...Object.values(APPLICATION_EVENTS), ...Object.values(SESSION_END_EVENTS)],
  tables: APPLICATION_TABLES,
  jobs: ({ database }) => [
    { name: 'application-expiry', restMs: 5 * SECOND_MS, step: (nowMs) => sweepAccess(database, nowMs) },
  ],
};

export { expireApplications, sweepApplications, sweepEndedKeys } from './expiry/sweep.js';
export type { AccessHooks, SecurityStory } from './making/changes.js';
export type { CreatedApplication, NewApplication } from './making/create.js';
export { createApplication } from './making/create.js';
export { checkTimedRights } from './making/definition.js';
export { applicationRoutes } from './routes.js';
export { ExpiresAtInput, Pagination, PermissionNames, RuleBody, RuleInputs } from './schema.js';
export type { Applications } from './service.js';
export { createApplications } from './service.js';

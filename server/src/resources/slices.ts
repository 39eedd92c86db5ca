/** Every resource of the tenant API, a line each. A new one gets its line here, and is everywhere. */
export { activity } from './activity/index.js';
export { applicationPages } from './application-pages/index.js';
export { applicationTemplates } from './application-templates/index.js';
export { applications } from './applications/index.js';
export { invitations } from './invitations/index.js';
export { logStreams } from './log-streams/index.js';
export { logs } from './logs/index.js';
export { members } from './members/index.js';
export { permissions } from './permissions/index.js';
export { portal } from './portal/index.js';
export { proxies } from './proxies/index.js';
export { reactors } from './reactors/index.js';
export { reports } from './reports/index.js';
export { sessions } from './sessions/index.js';
export { tenants } from './tenants/index.js';
export { tokenPages } from './token-pages/index.js';
export { tokens } from './tokens/index.js';

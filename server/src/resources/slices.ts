/** Every resource of the tenant API, a line each. A new one gets its line here, and is everywhere. */
export { applicationTemplates } from './application-templates/index.js';
export { applications } from './applications/index.js';
export { logs } from './logs/index.js';
export { permissions } from './permissions/index.js';
export { proxies } from './proxies/index.js';
export { reactors } from './reactors/index.js';
export { reports } from './reports/index.js';
export { sessions } from './sessions/index.js';
export { tenants } from './tenants/index.js';
export { tokens } from './tokens/index.js';

/** Every resource the suite tries, a line each. */
export { applicationKeys } from './application-keys.js';
export { applications } from './applications.js';
export { invitations } from './invitations.js';
export { logs } from './logs.js';
export { members } from './members.js';
export { permissions } from './permissions.js';
export { proxies } from './proxies.js';
export { reactors } from './reactors.js';
export { reports } from './reports.js';
export { sessions } from './sessions.js';
export { tenants } from './tenants.js';
export { tokenLists } from './token-lists.js';
export { tokenize } from './tokenize.js';
export { tokens } from './tokens.js';

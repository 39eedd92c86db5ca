export { groupIdOf, tieOf } from './stored/names.js';
export type { TokenRow } from './stored/row.js';
export { openContent, sealContent } from './stored/seal.js';

export type { TokenContent } from './stored/content.js';
export { groupIdOf, tieOf } from './stored/names.js';
export type { TokenRow } from './stored/row.js';
export { openContent, resealContent, sealContent } from './stored/seal.js';

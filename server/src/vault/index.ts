export type { Metadata, MetadataPatch } from './change/merge-metadata.js';
export { METADATA_ENTRIES_MAX, mergeMetadata, TOO_MANY_ENTRIES } from './change/merge-metadata.js';
export type { TokenPatch } from './change/token-patch.js';
export type { TokenUsage } from './count/count-usage.js';
export { countUsage, findActiveMonths, findUsage } from './count/count-usage.js';
export { TOKEN_EVENTS } from './events.js';
export type { DescribedPage, DescribedWanted } from './find/describe.js';
export type { PageWanted, TokenPage } from './find/list.js';
export type { SearchData } from './find/look.js';
export { vaultJobs } from './jobs.js';
export type { GivenPrivacy } from './make/containers.js';
export { choiceOf, settleContainers } from './make/containers.js';
export type { NewToken } from './make/new-token.js';
export type { TokenSettings } from './make/prepare.js';
export type { TokenizePlan } from './make/tokenize.js';
export { tooManyTokens } from './make/too-many.js';
export { takeRoom } from './open/room.js';
export type { Fingerprints } from './present/present.js';
export type { PresentedToken, TokenDescription } from './present/token-body.js';
export type { Filters } from './search/build.js';
export type { SearchBoundStory } from './search/search-tries.js';
export { CLASSIFICATIONS, IMPACT_LEVELS, RESTRICTION_POLICIES } from './stored/content.js';
export type { TokenPosition } from './stored/position.js';
export { VAULT_TABLES } from './tables.js';
export { TOKEN_TYPE_CATALOGUE } from './types/catalogue.js';
export {
  ACCOUNT_NUMBER_PATTERN,
  CARD_NUMBER_PATTERN,
  CVC_NUMBER_MAX,
  CVC_NUMBER_MIN,
  CVC_PATTERN,
  EMPLOYER_ID_PATTERN,
  MONTH_MAX,
  ROUTING_NUMBER_PATTERN,
  SOCIAL_SECURITY_PATTERN,
  YEAR_MAX,
  YEAR_MIN,
} from './types/checks.js';
export type { TokenType } from './types/names.js';
export { isTokenType, TOKEN_TYPES } from './types/names.js';
export { ID_LENGTH_MAX, ID_LENGTH_MIN, idFault, RESERVED, storedIdFault, WHOLE_TOKEN } from './types/token-id.js';
export { findExpressions } from './use/find-expressions.js';
export type { Preview, PreviewedToken } from './use/preview.js';
export type { Vault, VaultOptions } from './vault.js';
export { createVault } from './vault.js';

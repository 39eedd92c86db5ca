import { defineTable } from '../tables/table.js';
import { SEALED_TOKENS } from './upkeep/reseal.js';

const ofVault = (name: string) => defineTable({ name, fate: 'with its tenant' });

/** The tables of the vault. Nobody else writes to them. */
export const VAULT_TABLES = [
  defineTable({ name: 'tokens', fate: 'with its tenant', sealed: SEALED_TOKENS }),
  ...['token_terms', 'token_claims', 'token_groups', 'token_directories', 'active_tokens'].map(ofVault),
  ...['active_token_counts', 'search_tries'].map(ofVault),
];

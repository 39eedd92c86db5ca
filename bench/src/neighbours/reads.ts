import type { Product } from '../product.js';
import { wire } from '../requests.js';
import { seedTokens } from '../seed.js';
import type { VaultTenant } from '../tenants.js';
import type { Stream } from './case.js';

const TOKENS = 100;
const CONNECTIONS = 2;

/** Reads of single tokens, as a shop would do them while another tenant is at work. */
export async function readsOf({ port }: Product, { key }: VaultTenant): Promise<Stream> {
  const ids = await seedTokens(port, key, TOKENS);
  return { requests: ids.map((id) => wire('GET', `/tokens/${id}`, key)), connections: CONNECTIONS };
}

import { connectOwner } from '../owner.js';
import { call, card, wire } from '../requests.js';
import type { NeighbourCase } from './case.js';
import { readsOf } from './reads.js';

const TOKENS = 200_000;
const TOKENS_QUICK = 50_000;
const SEARCHES = 55;
const NOBODY = '00000000-0000-4000-8000-000000000000';

/** Copies of one token. They do not open, which nothing here needs: the searches find none of them. */
const COPY = `
  INSERT INTO tokens (tenant_id, id, type, group_id, created_at, tie, created_by, expires_at, cvc_expires_at, fingerprint,
                      terms, data_version, sealed)
  SELECT t.tenant_id, n::text, t.type, t.group_id, t.created_at, gen_random_uuid(), t.created_by, t.expires_at,
         t.cvc_expires_at, t.fingerprint, t.terms, t.data_version, t.sealed
  FROM (SELECT * FROM tokens WHERE tenant_id = $1 LIMIT 1) AS t CROSS JOIN generate_series(100, 99 + $2::int) AS n`;

/** No index knows who made a token, so each of these looks at all of them, for the page and for its total. */
export const SEARCHES_WITHOUT_INDEX: NeighbourCase = {
  name: `reads beside ${SEARCHES} searches without an index`,
  wanted: { least: 0.6 },
  async prepare({ product, neighbour, hostile, isQuick }) {
    await call(product.port, hostile.key, 'POST', '/tokens', JSON.stringify(card()));
    const owner = await connectOwner(product.socketDir);
    await owner.query(COPY, [hostile.id, isQuick ? TOKENS_QUICK : TOKENS]);
    await owner.query('VACUUM (ANALYZE) tokens');
    await owner.end();
    const body = JSON.stringify({ query: `created_by:${NOBODY}` });
    return {
      neighbour: await readsOf(product, neighbour),
      hostile: { requests: [wire('POST', '/tokens/search', hostile.key, body)], connections: SEARCHES },
    };
  },
};

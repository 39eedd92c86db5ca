import type { Grants } from '../../access/rules.js';
import type { AuditContext } from '../../audit/entry.js';
import { AppError } from '../../kernel/errors.js';
import type { LargeWork } from '../../kernel/large-work.js';
import type { Database } from '../../storage/database.js';
import type { PlacedToken } from '../change/change.js';
import { recordTouched } from '../change/change.js';
import { TOKEN_EVENTS } from '../events.js';
import type { Opener } from '../open/open.js';
import { known, OPENED_TIMES } from '../open/open.js';
import type { OpenRow } from '../open/open-rows.js';
import { takeRoom } from '../open/room.js';
import { describedBody } from '../present/present.js';
import type { TokenDescription } from '../present/token-body.js';
import type { Query } from '../search/parse.js';
import { parseQuery } from '../search/parse.js';
import type { TokenPosition } from '../stored/position.js';
import type { FoundRow } from '../stored/row.js';
import { isLarge, sealedBytesOf } from '../stored/row.js';
import { FREE_BYTES_MAX } from './large-pages.js';
import type { Look } from './look.js';
import { pageOf } from './look.js';

export interface DescribeOptions {
  readonly database: Database;
  readonly opener: Opener;
  readonly largeWork: LargeWork;
  readonly look: Look;
}

/** A page of a search for descriptions. */
export interface DescribedWanted {
  readonly query: string;
  readonly after: TokenPosition | undefined;
  readonly limit: number;
}

export interface DescribedPage {
  readonly tokens: readonly TokenDescription[];
  readonly next: TokenPosition | undefined;
}

/** A role is for the whole tenant: no rule narrows what its members find. What they may ask for is narrowed instead. */
const EVERY_TOKEN: Grants = { permissions: new Set(['token:search']), rules: [] };

/** A token that is described, as far as log and counters know it. */
interface Described {
  readonly token: PlacedToken;
  readonly body: TokenDescription;
}

export async function describeToken(
  { database, opener }: DescribeOptions,
  tenantId: string,
  auditContext: AuditContext,
  id: string,
): Promise<TokenDescription> {
  const token = known(await opener.find(tenantId, id, auditContext));
  await database.append(tenantId, (tx) => recordTouched(tx, auditContext, TOKEN_EVENTS.retrieved, [token]));
  return describedBody(token);
}

export async function describeFound(
  options: DescribeOptions,
  tenantId: string,
  auditContext: AuditContext,
  { query: text, after, limit }: DescribedWanted,
): Promise<DescribedPage> {
  const query = parseQuery(text);
  refuseUndescribed(query);
  const finder = { tenantId, grants: [EVERY_TOKEN] };
  const searched = { query, includesChildren: true, permission: 'token:search' } as const;
  const { rows } = await options.look(finder, auditContext, searched, { after, limit: limit + 1, isCounted: false });
  const { shown, next } = pageOf(rows, limit);
  const described = await describeRows(options, tenantId, auditContext, shown);
  const tokens = described.map(({ token }) => token);
  if (tokens.length > 0) {
    await options.database.append(tenantId, (tx) => recordTouched(tx, auditContext, TOKEN_EVENTS.found, tokens));
  }
  return { tokens: described.map(({ body }) => body), next };
}

/** In the order of the rows. Large ones are opened one at a time, and only what is told of them is kept. */
async function describeRows(
  { opener, largeWork }: DescribeOptions,
  tenantId: string,
  auditContext: AuditContext,
  rows: readonly FoundRow[],
): Promise<Described[]> {
  const small = rows.filter((row) => !isLarge(row));
  const together = small.reduce((sum, row) => sum + sealedBytesOf(row), 0);
  const largest = Math.max(0, ...rows.filter(isLarge).map(sealedBytesOf));
  const bytes = (together > FREE_BYTES_MAX ? together : 0) + largest;
  if (bytes > 0) await takeRoom(largeWork, tenantId, auditContext, bytes * OPENED_TIMES);
  const bodies = new Map((await opener.open(tenantId, small)).map((token) => [token.row.id, describedOf(token)]));
  for (const row of rows.filter(isLarge)) {
    const found = await opener.openPaced(tenantId, [row], auditContext.atMs, ([token]) => token && describedOf(token));
    if (found) bodies.set(row.id, found);
  }
  return rows.map(({ id }) => bodies.get(id)).filter((found) => found !== undefined);
}

function describedOf(token: OpenRow): Described {
  const { sealed: _, ...row } = token.row;
  const { type, containers } = token.content;
  return { token: { row, content: { type, containers } }, body: describedBody(token) };
}

/**
 * Looking for a value is a way to read it, so only what is told anyway is looked for. Fields are named that may be asked for: one
 * that comes later is refused until somebody has decided. It is the parsed query that is judged, so no spelling leads around it.
 */
function refuseUndescribed(query: Query): void {
  switch (query.kind) {
    case 'all':
    case 'metadata':
      return;
    case 'not':
      refuseUndescribed(query.part);
      return;
    case 'and':
    case 'or':
      for (const part of query.parts) refuseUndescribed(part);
      return;
    case 'text':
      if (query.field === 'id' || query.field === 'type' || query.field === 'container') return;
      throw notSearched(query.field, query.at);
    case 'dates':
      throw notSearched(query.field, query.at);
  }
}

function notSearched(field: string, at: number): AppError {
  const position = `character ${at}: ${field} is not searched here. Use id, type, container or metadata.<key>.`;
  return new AppError('invalid_query', `The query cannot be used at ${position}`, { errors: { query: [position] } });
}

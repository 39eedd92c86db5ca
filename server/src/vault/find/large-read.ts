import { decide } from '../../access/decide.js';
import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import type { LargeWork } from '../../kernel/large-work.js';
import type { Database } from '../../storage/database.js';
import { placed, recordTouched } from '../change/change.js';
import { TOKEN_EVENTS } from '../events.js';
import type { Opener } from '../open/open.js';
import { known } from '../open/open.js';
import type { OpenRow } from '../open/open-rows.js';
import { takeRoom } from '../open/room.js';
import { granted, subjectOf } from '../present/answer.js';
import type { Present } from '../present/present.js';
import type { PresentedToken } from '../present/token-body.js';
import type { FoundRow } from '../stored/row.js';
import { sealedBytesOf } from '../stored/row.js';

/** What is held of a token that is read: its record, its text, and what is on its way to the client. */
const READ_TIMES = 3;

export interface LargeReadOptions {
  readonly database: Database;
  readonly opener: Opener;
  readonly largeWork: LargeWork;
}

/**
 * Reads a large token. It is opened twice: for the decision, and again once the log has its entry, because in between
 * only the record is held; what was parsed may take many times its size.
 */
export async function readLarge(
  { database, opener, largeWork }: LargeReadOptions,
  principal: Principal,
  auditContext: AuditContext,
  found: FoundRow,
  present: Present,
): Promise<PresentedToken> {
  const { tenantId } = principal;
  const transformOf = (token: OpenRow) => granted(decide(principal, 'token:read', subjectOf(token)));
  await takeRoom(largeWork, tenantId, auditContext, sealedBytesOf(found) * READ_TIMES);
  const row = await opener.openPaced(tenantId, [found], auditContext.atMs, ([token]) => {
    const seen = known(token);
    transformOf(seen);
    return seen.row;
  });
  await database.append(tenantId, (tx) => recordTouched(tx, auditContext, TOKEN_EVENTS.retrieved, [placed(row)]));
  return opener.openPaced(tenantId, [row], auditContext.atMs, ([token]) => {
    const seen = known(token);
    return present.body(seen, transformOf(seen), auditContext.atMs);
  });
}

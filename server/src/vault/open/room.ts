import type { AuditContext } from '../../audit/entry.js';
import type { Share } from '../../kernel/byte-budget.js';
import { overloaded } from '../../kernel/errors.js';
import type { LargeWork } from '../../kernel/large-work.js';

/** Waits until the request has room for so much beside its body; it has it until its answer is out. */
export async function takeRoom(
  largeWork: LargeWork,
  tenantId: string,
  auditContext: Holding,
  bytes: number,
): Promise<void> {
  const share = shareOf(largeWork, tenantId, auditContext);
  await share.need(bytes);
  if (auditContext.holder === undefined) share();
}

/** The same for work that cannot wait: 503 when there is no room. */
export function takeRoomNow(largeWork: LargeWork, tenantId: string, auditContext: Holding, bytes: number): void {
  const share = shareOf(largeWork, tenantId, auditContext);
  if (!share.needNow(bytes)) throw overloaded();
  if (auditContext.holder === undefined) share();
}

type Holding = Pick<AuditContext, 'holder'>;

/** One for each request: whoever held several could wait for one while another waits for its own. */
function shareOf({ bytes }: LargeWork, tenantId: string, { holder }: Holding): Share {
  const known = holder?.held?.[0];
  if (known) return known;
  const share = bytes.open(tenantId);
  if (holder) holder.held = [share];
  return share;
}

import { CONTAINER_LENGTH_MAX, CONTAINER_PATTERN } from '../../access/check-rules.js';
import { decide, decideAll, decidingRule } from '../../access/decide.js';
import { grantsOf, rulesText } from '../../access/grants.js';
import type { Permission } from '../../access/permissions.js';
import { isTokenPermission, PERMISSIONS } from '../../access/permissions.js';
import type { Grants } from '../../access/rules.js';
import { formatDate, parseDate } from '../../kernel/dates.js';
import type { FieldErrors } from '../../kernel/errors.js';
import { validationFailed } from '../../kernel/errors.js';
import type { Vault } from '../../vault/index.js';
import type { ChangesOptions, KeyTimesRow } from '../applications/index.js';
import { APPLICATION_EVENTS, checkTimedRights, createApplications, listKeyTimes } from '../applications/index.js';
import type { OwnTenantCall, OwnTenantOptions } from '../portal/index.js';
import { createEnterTenant } from '../portal/index.js';
import type {
  AccessPreview,
  AccessPreviewInput,
  PortalApplicationList,
  PortalApplicationsQuery,
  PreviewedContainer,
  PreviewedOperation,
} from './schema.js';

export interface ApplicationPagesOptions extends OwnTenantOptions, ChangesOptions {
  readonly vault: Pick<Vault, 'containers'>;
}

/** Applications as people look after them. */
export interface ApplicationPages {
  list(call: OwnTenantCall, query: PortalApplicationsQuery): Promise<PortalApplicationList>;
  preview(call: OwnTenantCall, input: AccessPreviewInput): Promise<AccessPreview>;
}

const ASKING = { permission: 'application:read', onDenied: APPLICATION_EVENTS.denied } as const;
const CONTAINERS_SHOWN_MAX = 50;
const TOKEN_PERMISSIONS = PERMISSIONS.map(({ type }) => type).filter(isTokenPermission);
/** Those that have to be granted on every container of a token. */
const EVERYWHERE: readonly Permission[] = ['token:create', 'token:update'];

export function createApplicationPages(options: ApplicationPagesOptions): ApplicationPages {
  const { database, vault } = options;
  const enter = createEnterTenant(options);
  const applications = createApplications(options);
  return {
    async list(call, query) {
      const { tenantId } = await enter(call, { ...ASKING, onRead: APPLICATION_EVENTS.listed });
      const { atMs } = call.auditContext;
      const { pagination, data } = await applications.list(tenantId, query, atMs);
      const ids = data.map(({ id }) => id);
      const rows = await database.readPage(tenantId, (tx) => listKeyTimes(tx, ids, atMs));
      const times = new Map(rows.map((row) => [row.application_id, row]));
      return { pagination, data: data.map((shown) => ({ ...shown, ...timesBodyOf(shown, times.get(shown.id)) })) };
    },
    async preview(call, input) {
      const { tenantId } = await enter(call, ASKING);
      const { grants, given } = checked(input, call.auditContext.atMs);
      // One more than is shown tells whether there are more.
      const found = await vault.containers(tenantId, CONTAINERS_SHOWN_MAX + 1);
      const filled = new Set(found.slice(0, CONTAINERS_SHOWN_MAX));
      const all = [...new Set([...filled, ...given])];
      return {
        containers: all.map((container) => previewOf(grants, container, found.includes(container))),
        has_more: found.length > CONTAINERS_SHOWN_MAX,
      };
    },
  };
}

function timesBodyOf({ expires_at: end }: { readonly expires_at?: string }, row: KeyTimesRow | undefined) {
  const ends = [row?.next_end_at?.getTime(), end === undefined ? undefined : parseDate(end)];
  const nextMs = Math.min(...ends.filter((ms) => typeof ms === 'number'));
  return {
    key_count: row?.key_count ?? 0,
    ...(row?.last_used_at && { last_used_at: formatDate(row.last_used_at.getTime()) }),
    ...(Number.isFinite(nextMs) && { next_end_at: formatDate(nextMs) }),
  };
}

/** Every fault at once, at the fields where creating the Application would name them. */
function checked(input: AccessPreviewInput, nowMs: number): { readonly grants: Grants; readonly given: string[] } {
  const { type, containers = [] } = input;
  const result = checkTimedRights(type, input, { nowMs });
  const errors: FieldErrors = 'errors' in result ? { ...result.errors } : {};
  containers.forEach((container, index) => {
    if (CONTAINER_PATTERN.test(container) && container.length <= CONTAINER_LENGTH_MAX) return;
    errors[`containers[${index}]`] = ['must be a path such as /pci/high/'];
  });
  if ('errors' in result || Object.keys(errors).length > 0) throw validationFailed(errors);
  const { permissions, rules } = result.rights;
  // By the same way as stored rights are read, so that a preview cannot differ from what they amount to.
  return { grants: grantsOf(type, permissions, rulesText(rules)), given: containers.map((each) => each.toLowerCase()) };
}

function previewOf(grants: Grants, container: string, hasTokens: boolean): PreviewedContainer {
  const operations = TOKEN_PERMISSIONS.map((permission) => operationOf(grants, permission, container));
  const read = operations.find(({ permission }) => permission === 'token:read');
  return { container, has_tokens: hasTokens, sees: read?.transform ?? 'nothing', operations };
}

/** No rule of an Application asks for the id of a token, so any token stands for all of a container. */
const ANY_ID = '';

function operationOf(grants: Grants, permission: Permission, container: string): PreviewedOperation {
  const token = { id: ANY_ID, containers: [container] };
  const judge = EVERYWHERE.includes(permission) ? decideAll : decide;
  const transform = judge({ grants: [grants] }, permission, token);
  const rule = decidingRule(grants, permission, token);
  return {
    permission,
    is_granted: transform !== undefined,
    ...(transform !== undefined && { transform }),
    ...(rule !== undefined && { rule_priority: rule.priority }),
  };
}

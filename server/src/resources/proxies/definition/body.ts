import { formatDate } from '../../../kernel/dates.js';
import { isUsable } from '../../definitions/change.js';
import type { NamedApplications } from '../../definitions/kind.js';
import type { VersionRow } from '../../definitions/version-queries.js';
import type { ProxyBody, ProxyVersionBody } from '../schema.js';
import type { OpenedProxy, ProxyDefinition } from './content.js';

/** An Application that is gone is not shown. */
export function proxyBodyOf({ row, content }: OpenedProxy, applications: NamedApplications): ProxyBody {
  const { applicationId, requestReactorId, responseReactorId } = content;
  const application = applicationId === null ? undefined : applications.get(applicationId);
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: content.name,
    key: content.key,
    destination_url: content.destinationUrl,
    ...transformsOf(content),
    ...(application && isUsable(application) && { application_id: application.id }),
    configuration: { ...content.configuration },
    require_auth: content.requireAuth,
    ...(requestReactorId !== null && { request_reactor_id: requestReactorId }),
    ...(responseReactorId !== null && { response_reactor_id: responseReactorId }),
    state: 'active',
    ...(row.created_by !== null && { created_by: row.created_by }),
    created_at: formatDate(row.created_at.getTime()),
    ...(row.modified_by !== null && { modified_by: row.modified_by }),
    ...(row.modified_at !== null && { modified_at: formatDate(row.modified_at.getTime()) }),
  };
}

export function proxyVersionOf(row: VersionRow, definition: ProxyDefinition): ProxyVersionBody {
  return {
    version: row.version,
    ...(row.created_by !== null && { created_by: row.created_by }),
    created_at: formatDate(row.created_at.getTime()),
    destination_url: definition.destinationUrl,
    ...transformsOf(definition),
  };
}

function transformsOf({ requestTransform, responseTransform }: ProxyDefinition) {
  return {
    ...(requestTransform !== null && { request_transform: { code: requestTransform } }),
    ...(responseTransform !== null && { response_transform: { code: responseTransform } }),
  };
}

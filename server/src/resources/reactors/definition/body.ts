import { formatDate } from '../../../kernel/dates.js';
import type { NamedApplication } from '../../applications/index.js';
import type { ReactorRow } from '../queries.js';
import type { ReactorBody, ReactorVersionBody } from '../schema.js';
import type { VersionRow } from '../versions/queries.js';
import type { ReactorDefinition } from './content.js';

/** A Reactor with what it says. */
export interface OpenedReactor<Content extends ReactorDefinition = ReactorDefinition> {
  readonly row: ReactorRow;
  readonly content: Content;
}

/** An Application that is gone is not shown. */
export function reactorBodyOf(
  { row, content }: OpenedReactor,
  applications: ReadonlyMap<string, NamedApplication>,
): ReactorBody {
  const application = content.applicationId === null ? undefined : applications.get(content.applicationId);
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: content.name,
    code: content.code,
    configuration: { ...content.configuration },
    ...(application && isUsable(application) && { application }),
    state: 'active',
    ...(row.created_by !== null && { created_by: row.created_by }),
    created_at: formatDate(row.created_at.getTime()),
    ...(row.modified_by !== null && { modified_by: row.modified_by }),
    ...(row.modified_at !== null && { modified_at: formatDate(row.modified_at.getTime()) }),
  };
}

/** Code acts on tokens, so as an Application that may hold permissions on them. */
export function isUsable(
  application: NamedApplication,
): application is NamedApplication & { readonly type: 'public' | 'private' } {
  return application.type !== 'management';
}

export function versionBodyOf(row: VersionRow, { code }: ReactorDefinition): ReactorVersionBody {
  return {
    version: row.version,
    ...(row.created_by !== null && { created_by: row.created_by }),
    created_at: formatDate(row.created_at.getTime()),
    code,
  };
}

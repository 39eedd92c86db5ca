import { formatDate } from '../../../kernel/dates.js';
import { isUsable } from '../../definitions/change.js';
import type { NamedApplications } from '../../definitions/kind.js';
import type { VersionRow } from '../../definitions/version-queries.js';
import type { ReactorBody, ReactorVersionBody, ReactorWithSecretBody } from '../schema.js';
import type { OpenedReactor, ReactorDefinition } from './content.js';

/** An Application that is gone is not shown. */
export function reactorBodyOf({ row, content }: OpenedReactor, applications: NamedApplications): ReactorBody {
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

export function reactorWithSecretOf(opened: OpenedReactor, applications: NamedApplications): ReactorWithSecretBody {
  return { ...reactorBodyOf(opened, applications), callback_secret: opened.content.callbackSecret };
}

export function reactorVersionOf(row: VersionRow, { code }: ReactorDefinition): ReactorVersionBody {
  return {
    version: row.version,
    ...(row.created_by !== null && { created_by: row.created_by }),
    created_at: formatDate(row.created_at.getTime()),
    code,
  };
}

import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { AppWindow, Pencil, ScrollText } from 'lucide-react';
import { ApiFault } from '../../api/fault.js';
import type { Application } from '../../api/generated.js';
import { ReaderNote } from '../../tenant/reader-note.js';
import { useAddress } from '../../tenant/use-address.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { buttonClasses } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { PageHeader } from '../../ui/page-header.js';
import { Tabs } from '../../ui/tabs.js';
import { AccessPreview } from './access-preview.js';
import { ApplicationFacts } from './application-facts.js';
import { DeleteApplication } from './delete-application.js';
import { KeysCard } from './keys-card.js';
import { ManagementReach } from './management-reach.js';
import { applicationQuery } from './queries.js';
import { RightsView } from './rights-view.js';

/** One Application: its keys, its rights, and what they come to. */
export function ApplicationPage() {
  const { id: tenantId } = useTenant();
  const { applicationId = '' } = useParams({ strict: false });
  const query = useQuery(applicationQuery(tenantId, applicationId));
  if (query.error instanceof ApiFault && query.error.status === 404) {
    return <UnknownApplication tenantId={tenantId} applicationId={applicationId} />;
  }
  if (!query.data) {
    return (
      <>
        <PageHeader title="Application" />
        <Loaded query={query}>{() => null}</Loaded>
      </>
    );
  }
  return <Known tenantId={tenantId} application={query.data} />;
}

interface KnownProps {
  readonly tenantId: string;
  readonly application: Application;
}

function Known({ tenantId, application }: KnownProps) {
  const { mayChange } = useTenant();
  const { search, change } = useAddress();
  const params = { tenantId, applicationId: application.id };
  const tabs = [
    { value: 'keys', text: 'Keys', content: <KeysCard tenantId={tenantId} application={application} /> },
    { value: 'rights', text: 'Rights', content: <RightsView application={application} /> },
    { value: 'access', text: 'Who sees what', content: <Access tenantId={tenantId} application={application} /> },
  ];
  return (
    <>
      <PageHeader
        title={application.name}
        actions={
          <>
            {mayChange && <DeleteApplication tenantId={tenantId} application={application} />}
            <Link
              to="/tenants/$tenantId/logs"
              params={{ tenantId }}
              search={{ actor_id: application.id }}
              className={buttonClasses()}
            >
              <ScrollText aria-hidden className="size-4" />
              What it did
            </Link>
            {mayChange && (
              <Link
                to="/tenants/$tenantId/applications/$applicationId/edit"
                params={params}
                className={buttonClasses()}
              >
                <Pencil aria-hidden className="size-4" />
                Edit
              </Link>
            )}
          </>
        }
      />
      <ReaderNote what="Applications and their keys" />
      <ApplicationFacts tenantId={tenantId} application={application} />
      <Tabs
        label="Parts of the Application"
        value={tabs.find(({ value }) => value === search.tab)?.value ?? 'keys'}
        onChange={(tab) => change({ tab: tab === 'keys' ? undefined : tab })}
        tabs={tabs}
      />
    </>
  );
}

function Access({ tenantId, application: { type, permissions, rules } }: KnownProps) {
  if (type === 'management') return <ManagementReach permissions={permissions} />;
  return <AccessPreview tenantId={tenantId} rights={{ type, permissions, ...(rules.length > 0 && { rules }) }} />;
}

function UnknownApplication({
  tenantId,
  applicationId,
}: {
  readonly tenantId: string;
  readonly applicationId: string;
}) {
  return (
    <>
      <PageHeader title="Application" />
      <EmptyState
        icon={AppWindow}
        title="There is no such Application"
        action={
          <div className="flex flex-wrap justify-center gap-2">
            <Link to="/tenants/$tenantId/applications" params={{ tenantId }} className={buttonClasses()}>
              To the Applications
            </Link>
            <Link
              to="/tenants/$tenantId/logs"
              params={{ tenantId }}
              search={{ entity_id: applicationId }}
              className={buttonClasses()}
            >
              Log of this id
            </Link>
          </div>
        }
      >
        It was deleted, it has ended, or it belongs to another tenant. If it was here once, the log knows.
      </EmptyState>
    </>
  );
}

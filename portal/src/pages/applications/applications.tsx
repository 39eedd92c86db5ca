import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { AppWindow, Plus } from 'lucide-react';
import { curlLine } from '../../api/curl-line.js';
import { ReaderNote } from '../../tenant/reader-note.js';
import { pageNumberOf, useAddress } from '../../tenant/use-address.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { CodeLine } from '../../ui/code-line.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { PageHeader } from '../../ui/page-header.js';
import { Pager } from '../../ui/pager.js';
import { Select } from '../../ui/select.js';
import { ApplicationTable } from './application-table.js';
import { APPLICATION_TYPES, applicationTypeOf, TYPE_NAMES } from './application-types.js';
import { applicationsQuery } from './queries.js';

/** The clients of the tenant. */
export function ApplicationsPage() {
  const { id: tenantId, mayChange } = useTenant();
  const { search, change } = useAddress();
  const type = applicationTypeOf(search.type);
  const page = pageNumberOf(search.page);
  const query = useQuery({ ...applicationsQuery(tenantId, type, page), placeholderData: keepPreviousData });
  return (
    <>
      <PageHeader
        title="Applications"
        lead="Who calls the API: each with its own keys and no more rights than it needs."
        actions={mayChange && <NewLink tenantId={tenantId} />}
      />
      <ReaderNote what="Applications" />
      <Select
        label="Type"
        isLabelHidden
        className="w-full sm:w-56"
        value={type ?? ''}
        onChange={(event) => change({ type: event.target.value, page: undefined })}
        options={[
          { value: '', text: 'All types' },
          ...TYPE_NAMES.map((name) => ({ value: name, text: APPLICATION_TYPES[name].text })),
        ]}
      />
      <Loaded query={query}>
        {({ data, pagination }) =>
          data.length === 0 ? (
            <NoApplications
              isNarrowed={type !== undefined || page > 1}
              onAll={() => change({ type: undefined, page: undefined })}
            />
          ) : (
            <div className="space-y-4">
              <ApplicationTable tenantId={tenantId} applications={data} />
              <Pager label="Applications" pagination={pagination} onPage={(next) => change({ page: next })} />
            </div>
          )
        }
      </Loaded>
    </>
  );
}

function NewLink({ tenantId }: { readonly tenantId: string }) {
  return (
    <Link to="/tenants/$tenantId/applications/new" params={{ tenantId }} className={buttonClasses('primary')}>
      <Plus aria-hidden className="size-4" />
      New application
    </Link>
  );
}

function NoApplications({ isNarrowed, onAll }: { readonly isNarrowed: boolean; readonly onAll: () => void }) {
  const { id: tenantId, mayChange } = useTenant();
  if (isNarrowed) {
    return (
      <EmptyState icon={AppWindow} title="No Application here" action={<Button onClick={onAll}>Show all</Button>}>
        None is of this type, or the list is shorter than it was.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={AppWindow} title="No Applications yet" action={mayChange && <NewLink tenantId={tenantId} />}>
      <p>Nothing can call the API before it has an Application and a key. A script with a key can make them as well:</p>
      <div className="mt-4 text-left text-ink">
        <CodeLine
          text={curlLine({
            method: 'POST',
            path: '/applications',
            body: { name: 'Backend', type: 'private', permissions: ['token:create', 'token:read'] },
          })}
        />
      </div>
    </EmptyState>
  );
}

import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/call.js';
import { curlLine } from '../../api/curl-line.js';
import type { Application, ApplicationTemplate, Permission } from '../../api/generated.js';
import { useSteppedUp } from '../../session/step-up.js';
import { LeaveGuard } from '../../tenant/leave-guard.js';
import { ReaderNote } from '../../tenant/reader-note.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { Callout } from '../../ui/callout.js';
import { CodeBlock } from '../../ui/code-block.js';
import { Loaded, Skeleton } from '../../ui/loaded.js';
import { announce } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { ApplicationForm } from './form/application-form.js';
import type { ApplicationDraft } from './form/draft.js';
import { bodyOfDraft, draftOf } from './form/draft.js';
import { DraftPreview } from './form/draft-preview.js';
import { APPLICATIONS_PART, applicationQuery, permissionsQuery, templatesQuery } from './queries.js';

/** Other rights, another name or another end for an Application. */
export function EditApplicationPage() {
  const { id: tenantId, mayChange } = useTenant();
  const { applicationId = '' } = useParams({ strict: false });
  // The form begins with what holds now, not with what was remembered, and does not change under the hands of who writes.
  const application = useQuery({
    ...applicationQuery(tenantId, applicationId),
    refetchOnMount: 'always',
    refetchOnWindowFocus: false,
  });
  const permissions = useQuery(permissionsQuery(tenantId));
  const templates = useQuery(templatesQuery(tenantId));
  return (
    <>
      <PageHeader
        title={application.data ? `Edit ${application.data.name}` : 'Edit application'}
        lead="Changed rights hold from the next request on. Its keys stay as they are."
      />
      <ReaderNote what="Applications" />
      {mayChange && (
        <Loaded query={application}>
          {(stored) =>
            application.isFetchedAfterMount ? (
              <Loaded query={permissions}>
                {(all) => (
                  <Loaded query={templates}>
                    {(known) => <Editing application={stored} permissions={all} templates={known} />}
                  </Loaded>
                )}
              </Loaded>
            ) : (
              <Skeleton />
            )
          }
        </Loaded>
      )}
    </>
  );
}

interface EditingProps {
  readonly application: Application;
  readonly permissions: readonly Permission[];
  readonly templates: readonly ApplicationTemplate[];
}

function Editing({ application, permissions, templates }: EditingProps) {
  const { id: tenantId } = useTenant();
  const navigate = useNavigate();
  const { id, type } = application;
  const [base, setBase] = useState(application);
  const [newer, setNewer] = useState<Application>();
  const [draft, setDraft] = useState(() => draftOf(application));
  const place = {
    to: '/tenants/$tenantId/applications/$applicationId',
    params: { tenantId, applicationId: id },
  } as const;
  const save = useSteppedUp(
    async ({ given, isOver = false }: { readonly given: ApplicationDraft; readonly isOver?: boolean }) => {
      const stored = isOver ? base : await call('GET /applications/{id}', { tenantId, params: { id } });
      const isChanged = stored.modified_at !== base.modified_at;
      setNewer(isChanged ? stored : undefined);
      if (isChanged) return false;
      await call('PUT /applications/{id}', { tenantId, params: { id }, body: bodyOfDraft(type, given) });
      return true;
    },
    async (isSaved) => {
      if (!isSaved) return;
      await reloadTenant(tenantId, APPLICATIONS_PART);
      announce({ id: 'application-saved', tone: 'ok', text: 'Saved. It holds from the next request on.' });
      await navigate({ ...place, search: { tab: 'rights' }, ignoreBlocker: true });
    },
  );
  return (
    <div className="grid grid-cols-1 items-start gap-6 xl:grid-cols-[minmax(0,1fr)_23rem]">
      <ApplicationForm
        type={type}
        permissions={permissions}
        templates={templates}
        draft={draft}
        error={save.error}
        onChange={setDraft}
        onForget={save.reset}
        onSubmit={() => save.mutate({ given: draft })}
      >
        {newer && (
          <ChangedMeanwhile
            onShow={() => {
              setBase(newer);
              setDraft(draftOf(newer));
              setNewer(undefined);
            }}
            onSave={() => save.mutate({ given: draft, isOver: true })}
          />
        )}
        <Link {...place} className={buttonClasses('quiet')}>
          Cancel
        </Link>
        <Button type="submit" look="primary" isBusy={save.isPending}>
          Save
        </Button>
      </ApplicationForm>
      <div className="space-y-5 xl:sticky xl:top-20 xl:max-h-[calc(100dvh-6rem)] xl:overflow-y-auto">
        <DraftPreview tenantId={tenantId} type={type} draft={draft} />
        <CodeBlock
          title="The same by the API"
          text={curlLine({ method: 'PUT', path: `/applications/${id}`, body: bodyOfDraft(type, draft) })}
        />
      </div>
      {save.dialog}
      <LeaveGuard isChanged={JSON.stringify(draft) !== JSON.stringify(draftOf(base))} />
    </div>
  );
}

/** All of an Application is saved at once, so what somebody else has saved since would be undone. */
function ChangedMeanwhile({ onShow, onSave }: { readonly onShow: () => void; readonly onSave: () => void }) {
  return (
    <div className="w-full">
      <Callout tone="warn" title="It was changed meanwhile">
        <p>Somebody saved this Application since you opened the form. Saving yours undoes that, rights included.</p>
        <div className="mt-3 flex flex-wrap gap-2">
          <Button onClick={onShow}>Show what is stored now</Button>
          <Button look="danger" onClick={onSave}>
            Save mine over it
          </Button>
        </div>
      </Callout>
    </div>
  );
}

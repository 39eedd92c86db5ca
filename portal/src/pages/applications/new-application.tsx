import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { AppWindow } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/call.js';
import type { ApplicationTemplate, Permission } from '../../api/generated.js';
import { useSteppedUp } from '../../session/step-up.js';
import { LeaveGuard } from '../../tenant/leave-guard.js';
import { useAddress } from '../../tenant/use-address.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { buttonClasses } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { PageHeader } from '../../ui/page-header.js';
import type { ApplicationType } from './application-types.js';
import type { ApplicationDraft } from './form/draft.js';
import { bodyOfDraft, fitDraft } from './form/draft.js';
import { draftFromAddress } from './form/from-address.js';
import { LinkNote } from './form/link-note.js';
import { NewApplicationForm } from './form/new-application-form.js';
import { TypeChoice } from './form/type-choice.js';
import { KeyDialog } from './key-dialog.js';
import { APPLICATIONS_PART, permissionsQuery, templatesQuery } from './queries.js';

/** A new Application: its type first, because everything else depends on it. */
export function NewApplicationPage() {
  const { id: tenantId, mayChange } = useTenant();
  const permissions = useQuery({ ...permissionsQuery(tenantId), enabled: mayChange });
  const templates = useQuery({ ...templatesQuery(tenantId), enabled: mayChange });
  return (
    <>
      <PageHeader title="New application" lead="A client with a key of its own. Give it no more than it needs." />
      {mayChange ? (
        <Loaded query={permissions}>
          {(all) => <Loaded query={templates}>{(known) => <Writing permissions={all} templates={known} />}</Loaded>}
        </Loaded>
      ) : (
        <EmptyState
          icon={AppWindow}
          title="You cannot create Applications here"
          action={
            <Link to="/tenants/$tenantId/applications" params={{ tenantId }} className={buttonClasses()}>
              To the Applications
            </Link>
          }
        >
          You are a Reader of this tenant. Ask an owner or an administrator, and send them the address of this page.
        </EmptyState>
      )}
    </>
  );
}

interface WritingProps {
  readonly permissions: readonly Permission[];
  readonly templates: readonly ApplicationTemplate[];
}

function Writing({ permissions, templates }: WritingProps) {
  const { id: tenantId } = useTenant();
  const { search, change } = useAddress();
  const [prefilled] = useState(() => draftFromAddress(search, permissions, templates));
  const [type, setType] = useState(prefilled.type);
  const [draft, setDraft] = useState(prefilled.draft);
  const [lost, setLost] = useState<readonly string[]>([]);
  const create = useCreate(tenantId);
  const choose = (chosen: ApplicationType) => {
    const fitted = fitDraft(draft, chosen, permissions);
    setType(chosen);
    setDraft(fitted.draft);
    setLost(fitted.lost);
    create.reset();
    void change({ type: chosen }, true);
  };
  return (
    <div className="space-y-6">
      {prefilled.isFromLink && <LinkNote lost={prefilled.lost} />}
      <TypeChoice value={type} onChange={choose} />
      <p role="status" className="text-sm text-muted empty:hidden">
        {lost.length > 0 && `Taken out, because this type cannot hold it: ${lost.join(', ')}.`}
      </p>
      {type && (
        <NewApplicationForm
          type={type}
          permissions={permissions}
          templates={templates}
          draft={draft}
          isBusy={create.isPending}
          error={create.error}
          onForget={create.reset}
          onChange={setDraft}
          onSubmit={() => create.mutate({ type, draft })}
        />
      )}
      {create.dialog}
      <LeaveGuard
        isChanged={JSON.stringify(draft) !== JSON.stringify(prefilled.draft) && create.secret === undefined}
      />
      <KeyDialog secret={create.secret} title="Its key" onClose={create.onStored} />
    </div>
  );
}

/** Creates it, holds the key for as long as it is shown, then opens what was made. */
function useCreate(tenantId: string) {
  const navigate = useNavigate();
  const [made, setMade] = useState<{ readonly id: string; readonly key: string | undefined }>();
  const act = useSteppedUp(
    async ({ type, draft }: { readonly type: ApplicationType; readonly draft: ApplicationDraft }) => {
      const { id, key } = await call('POST /applications', { tenantId, body: bodyOfDraft(type, draft) });
      setMade({ id, key }); // Not the result of the mutation, which would be remembered.
    },
    () => reloadTenant(tenantId, APPLICATIONS_PART),
  );
  return {
    ...act,
    secret: made?.key,
    onStored: () =>
      navigate({
        to: '/tenants/$tenantId/applications/$applicationId',
        params: { tenantId, applicationId: made?.id ?? '' },
        ignoreBlocker: true,
      }),
  };
}

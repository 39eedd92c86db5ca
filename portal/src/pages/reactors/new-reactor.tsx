import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/call.js';
import { useSteppedUp } from '../../session/step-up.js';
import { LeaveGuard } from '../../tenant/leave-guard.js';
import { ReaderNote } from '../../tenant/reader-note.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { FormFault } from '../../ui/form.js';
import { PageHeader } from '../../ui/page-header.js';
import { SecretDialog } from '../../ui/secret-dialog.js';
import { BackLink } from '../definitions/back-link.js';
import { repeatedName } from '../definitions/configuration-entries.js';
import type { ReactorContent } from './reactor-content.js';
import { NEW_REACTOR, reactorFields, reactorInput } from './reactor-content.js';
import { ReactorFields } from './reactor-fields.js';
import { TestRun } from './test-run.js';

export function NewReactorPage() {
  const { mayChange } = useTenant();
  return (
    <>
      <BackLink kind="reactors" />
      <PageHeader
        title="New Reactor"
        lead="A CommonJS module that exports one function. Try it here before anybody calls it."
      />
      {mayChange ? <NewReactor /> : <ReaderNote what="Reactors" />}
    </>
  );
}

function NewReactor() {
  const { id: tenantId } = useTenant();
  const navigate = useNavigate();
  const [content, setContent] = useState(NEW_REACTOR);
  const [made, setMade] = useState<{ readonly id: string; readonly secret: string }>();
  const create = useSteppedUp(
    (given: ReactorContent) => call('POST /reactors', { tenantId, body: reactorInput(given) }),
    async ({ id, callback_secret: secret }) => {
      setMade({ id, secret });
      await reloadTenant(tenantId, 'reactors');
    },
  );
  const open = async (reactorId: string) => {
    create.reset(); // Its answer has the secret.
    await navigate({ to: '/tenants/$tenantId/reactors/$reactorId', params: { tenantId, reactorId } });
  };
  const isChanged = content !== NEW_REACTOR && made === undefined;
  return (
    <div className="grid items-start gap-6 xl:grid-cols-[minmax(0,1fr)_24rem]">
      <div className="space-y-5 rounded-xl border border-line bg-card p-5">
        <ReactorFields
          content={content}
          onChange={(parts) => setContent((before) => ({ ...before, ...parts }))}
          error={create.error}
          mayChange
        />
        <FormFault error={create.error} fields={reactorFields(content)} />
        <div className="flex justify-end">
          <Button
            look="primary"
            isBusy={create.isPending}
            disabled={repeatedName(content.entries) !== undefined}
            onClick={() => create.mutate(content)}
          >
            Create the Reactor
          </Button>
        </div>
      </div>
      <TestRun content={content} />
      <LeaveGuard isChanged={isChanged} />
      {create.dialog}
      <SecretDialog
        secret={made?.secret}
        title="The callback secret"
        lead="Results that are sent to a callback_url are signed with it. It is shown this one time; a new one can be made later."
        onClose={() => made && void open(made.id)}
      />
    </div>
  );
}

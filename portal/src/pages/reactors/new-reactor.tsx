import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/call.js';
import { useSteppedUp } from '../../session/step-up.js';
import { ReaderNote } from '../../tenant/reader-note.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { PageHeader } from '../../ui/page-header.js';
import { SecretDialog } from '../../ui/secret-dialog.js';
import { BackLink } from '../definitions/back-link.js';
import { NewDefinition } from '../definitions/new-definition.js';
import type { ReactorContent } from './reactor-content.js';
import { NEW_REACTOR, reactorInput } from './reactor-content.js';
import { REACTOR_FORM } from './reactor-fields.js';
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
    <>
      <NewDefinition
        kind="reactors"
        content={content}
        onChange={setContent}
        form={REACTOR_FORM}
        create={create}
        isChanged={isChanged}
        beside={<TestRun content={content} />}
      />
      <SecretDialog
        secret={made?.secret}
        title="The callback secret"
        lead="Results that are sent to a callback_url are signed with it. It is shown this one time; a new one can be made later."
        onClose={() => made && void open(made.id)}
      />
    </>
  );
}

import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/call.js';
import { useSteppedUp } from '../../session/step-up.js';
import { LeaveGuard } from '../../tenant/leave-guard.js';
import { ReaderNote } from '../../tenant/reader-note.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { FormFault } from '../../ui/form.js';
import { announce } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { BackLink } from '../definitions/back-link.js';
import { repeatedName } from '../definitions/configuration-entries.js';
import { Preview } from './preview.js';
import type { ProxyContent } from './proxy-content.js';
import { NEW_PROXY, proxyFields, proxyInput } from './proxy-content.js';
import { ProxyFields } from './proxy-fields.js';

export function NewProxyPage() {
  const { mayChange } = useTenant();
  return (
    <>
      <BackLink kind="proxies" />
      <PageHeader title="New Proxy" lead="Where requests go, and what happens to them on the way." />
      {mayChange ? <NewProxy /> : <ReaderNote what="Proxies" />}
    </>
  );
}

function NewProxy() {
  const { id: tenantId } = useTenant();
  const navigate = useNavigate();
  const [content, setContent] = useState(NEW_PROXY);
  const create = useSteppedUp(
    (given: ProxyContent) => call('POST /proxies', { tenantId, body: proxyInput(given) }),
    async ({ id: proxyId }) => {
      await navigate({
        to: '/tenants/$tenantId/proxies/$proxyId',
        params: { tenantId, proxyId },
        search: { tab: 'address' },
        ignoreBlocker: true,
      });
      await reloadTenant(tenantId, 'proxies');
      announce({ id: 'made', tone: 'ok', text: 'The Proxy is made. This is its address.' });
    },
  );
  return (
    <div className="grid items-start gap-6 xl:grid-cols-[minmax(0,1fr)_24rem]">
      <div className="space-y-5 rounded-xl border border-line bg-card p-5">
        <ProxyFields
          content={content}
          onChange={(parts) => setContent((before) => ({ ...before, ...parts }))}
          error={create.error}
          mayChange
        />
        <FormFault error={create.error} fields={proxyFields(content)} />
        <div className="flex justify-end">
          <Button
            look="primary"
            isBusy={create.isPending}
            disabled={repeatedName(content.entries) !== undefined}
            onClick={() => create.mutate(content)}
          >
            Create the Proxy
          </Button>
        </div>
      </div>
      <Preview of={{ destinationUrl: content.destinationUrl }} />
      <LeaveGuard isChanged={content !== NEW_PROXY} />
      {create.dialog}
    </div>
  );
}

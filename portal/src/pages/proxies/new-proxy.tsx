import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/call.js';
import { useSteppedUp } from '../../session/step-up.js';
import { ReaderNote } from '../../tenant/reader-note.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { announce } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { BackLink } from '../definitions/back-link.js';
import { NewDefinition } from '../definitions/new-definition.js';
import { Preview } from './preview.js';
import type { ProxyContent } from './proxy-content.js';
import { NEW_PROXY, proxyInput } from './proxy-content.js';
import { PROXY_FORM } from './proxy-fields.js';

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
    <NewDefinition
      kind="proxies"
      content={content}
      onChange={setContent}
      form={PROXY_FORM}
      create={create}
      isChanged={content !== NEW_PROXY}
      beside={<Preview of={{ destinationUrl: content.destinationUrl }} />}
    />
  );
}

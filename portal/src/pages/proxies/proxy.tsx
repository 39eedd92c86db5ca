import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { call } from '../../api/call.js';
import type { Proxy as StoredProxy } from '../../api/generated.js';
import { HiddenSecrets } from '../../tenant/hidden-secrets.js';
import { LeaveGuard } from '../../tenant/leave-guard.js';
import { ReaderNote } from '../../tenant/reader-note.js';
import { useAddress } from '../../tenant/use-address.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { CodeLine } from '../../ui/code-line.js';
import { Loaded } from '../../ui/loaded.js';
import { PageHeader } from '../../ui/page-header.js';
import { Tabs } from '../../ui/tabs.js';
import { When } from '../../ui/when.js';
import { ActorLink } from '../definitions/actor-link.js';
import { BackLink } from '../definitions/back-link.js';
import { Figures } from '../definitions/figures.js';
import { useDraft } from '../definitions/use-draft.js';
import { ProxyAddress } from './proxy-address.js';
import { proxyCall } from './proxy-call.js';
import { proxyContent } from './proxy-content.js';
import { ProxyEditor } from './proxy-editor.js';
import { ProxyVersions } from './proxy-versions.js';

export function ProxyPage() {
  const { id: tenantId } = useTenant();
  const { proxyId: id = '' } = useParams({ strict: false });
  const query = useQuery({
    queryKey: ['tenant', tenantId, 'proxies', id],
    queryFn: ({ signal }) => call('GET /proxies/{id}', { tenantId, signal, params: { id } }),
    gcTime: 0, // It has settings in it, which are not remembered for longer than they are shown.
  });
  return (
    <>
      <BackLink kind="proxies" />
      <Loaded query={query}>{(proxy) => <OneProxy key={id} proxy={proxy} />}</Loaded>
    </>
  );
}

const TABS = ['definition', 'address', 'versions', 'figures'] as const;

function OneProxy({ proxy }: { readonly proxy: StoredProxy }) {
  const { search, change } = useAddress();
  const draft = useDraft(proxy, proxyContent);
  return (
    <>
      <PageHeader
        title={proxy.name}
        lead={
          <>
            Changed <When at={proxy.modified_at ?? proxy.created_at} /> by{' '}
            <ActorLink id={proxy.modified_at === undefined ? proxy.created_by : proxy.modified_by} />
          </>
        }
      />
      <ReaderNote what="Proxies" />
      <HiddenSecrets secrets={[...Object.values(proxy.configuration), proxy.key]} part="proxies" />
      <Tabs
        label="Proxy"
        value={TABS.find((tab) => tab === search.tab) ?? 'definition'}
        onChange={(tab) => change({ tab: tab === 'definition' ? undefined : tab, version: undefined, with: undefined })}
        tabs={[
          { value: 'definition', text: 'Definition', content: <ProxyEditor proxy={proxy} draft={draft} /> },
          { value: 'address', text: 'Address', content: <ProxyAddress proxy={proxy} /> },
          { value: 'versions', text: 'Versions', content: <ProxyVersions proxy={proxy} /> },
          {
            value: 'figures',
            text: 'Figures',
            content: <Figures kind="proxies" id={proxy.id} firstCall={<FirstCall proxy={proxy} />} />,
          },
        ]}
      />
      <LeaveGuard isChanged={draft.isChanged} />
    </>
  );
}

function FirstCall({ proxy }: { readonly proxy: StoredProxy }) {
  return (
    <div className="text-left">
      <CodeLine text={proxyCall(proxy)} />
    </div>
  );
}

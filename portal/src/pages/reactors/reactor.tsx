import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { call } from '../../api/call.js';
import type { Reactor } from '../../api/generated.js';
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
import { reactCall } from './react-call.js';
import { reactorContent } from './reactor-content.js';
import { ReactorEditor } from './reactor-editor.js';
import { ReactorSettings } from './reactor-settings.js';
import { ReactorVersions } from './reactor-versions.js';
import { Requests } from './requests.js';

export function ReactorPage() {
  const { id: tenantId } = useTenant();
  const { reactorId: id = '' } = useParams({ strict: false });
  const query = useQuery({
    queryKey: ['tenant', tenantId, 'reactors', id],
    queryFn: ({ signal }) => call('GET /reactors/{id}', { tenantId, signal, params: { id } }),
    gcTime: 0, // It has settings in it, which are not remembered for longer than they are shown.
  });
  return (
    <>
      <BackLink kind="reactors" />
      <Loaded query={query}>{(reactor) => <OneReactor key={id} reactor={reactor} />}</Loaded>
    </>
  );
}

const TABS = ['code', 'versions', 'figures', 'requests', 'settings'] as const;

function OneReactor({ reactor }: { readonly reactor: Reactor }) {
  const { search, change } = useAddress();
  const draft = useDraft(reactor, reactorContent);
  const { id } = reactor;
  return (
    <>
      <PageHeader
        title={reactor.name}
        lead={
          <>
            Changed <When at={reactor.modified_at ?? reactor.created_at} /> by{' '}
            <ActorLink id={reactor.modified_at === undefined ? reactor.created_by : reactor.modified_by} />
          </>
        }
      />
      <ReaderNote what="Reactors" />
      <HiddenSecrets secrets={Object.values(reactor.configuration)} part="reactors" />
      <Tabs
        label="Reactor"
        value={TABS.find((tab) => tab === search.tab) ?? 'code'}
        onChange={(tab) =>
          change({ tab: tab === 'code' ? undefined : tab, version: undefined, with: undefined, page: undefined })
        }
        tabs={[
          { value: 'code', text: 'Code', content: <ReactorEditor reactor={reactor} draft={draft} /> },
          { value: 'versions', text: 'Versions', content: <ReactorVersions reactor={reactor} /> },
          {
            value: 'figures',
            text: 'Figures',
            content: <Figures kind="reactors" id={id} firstCall={<FirstCall id={id} />} />,
          },
          { value: 'requests', text: 'Requests', content: <Requests reactorId={id} /> },
          { value: 'settings', text: 'Settings', content: <ReactorSettings reactor={reactor} /> },
        ]}
      />
      <LeaveGuard isChanged={draft.isChanged} />
    </>
  );
}

function FirstCall({ id }: { readonly id: string }) {
  return (
    <div className="space-y-2 text-left">
      <p>With the key of a private Application that has token:use:</p>
      <CodeLine text={reactCall(id)} />
    </div>
  );
}

import { call } from '../../api/call.js';
import type { Proxy as StoredProxy } from '../../api/generated.js';
import { useSteppedUp } from '../../session/step-up.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { classes } from '../../ui/classes.js';
import { announce } from '../../ui/notices.js';
import { repeatedName } from '../definitions/configuration-entries.js';
import { SaveBar } from '../definitions/save-bar.js';
import type { Draft } from '../definitions/use-draft.js';
import { Preview } from './preview.js';
import type { ProxyContent } from './proxy-content.js';
import { proxyFields, proxyPatch } from './proxy-content.js';
import { ProxyFields } from './proxy-fields.js';

export interface ProxyEditorProps {
  readonly proxy: StoredProxy;
  readonly draft: Draft<ProxyContent, StoredProxy>;
}

/** Changes a Proxy, and shows what it would send. */
export function ProxyEditor({ proxy, draft }: ProxyEditorProps) {
  const { id: tenantId, mayChange } = useTenant();
  const save = useSteppedUp(
    (content: ProxyContent) =>
      call('PATCH /proxies/{id}', { tenantId, params: { id: proxy.id }, body: proxyPatch(draft.base, content) }),
    async () => {
      await reloadTenant(tenantId, 'proxies');
      draft.reset();
      announce({ id: 'saved', tone: 'ok', text: 'Saved. The next call uses it; the version before is kept.' });
    },
  );
  const { content } = draft;
  const isTwice = repeatedName(content.entries) !== undefined;
  return (
    <div className={classes('grid items-start gap-6', mayChange && 'xl:grid-cols-[minmax(0,1fr)_24rem]')}>
      <div className="space-y-5 rounded-xl border border-line bg-card p-5">
        <ProxyFields content={content} onChange={draft.change} error={save.error} mayChange={mayChange} />
        {mayChange && (
          <SaveBar
            draft={draft}
            blockedBy={isTwice ? 'A name of the configuration stands there twice.' : undefined}
            isBusy={save.isPending}
            error={save.error}
            fields={proxyFields(content)}
            onSave={() => save.mutate(content)}
          />
        )}
      </div>
      {mayChange && (
        <Preview
          of={
            content.destinationUrl === proxy.destination_url
              ? { id: proxy.id }
              : { destinationUrl: content.destinationUrl }
          }
        />
      )}
      {save.dialog}
    </div>
  );
}

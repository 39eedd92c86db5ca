import { call } from '../../api/call.js';
import type { Proxy as StoredProxy } from '../../api/generated.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { DefinitionEditor } from '../definitions/definition-editor.js';
import type { Draft } from '../definitions/use-draft.js';
import { Preview } from './preview.js';
import type { ProxyContent } from './proxy-content.js';
import { proxyPatch } from './proxy-content.js';
import { PROXY_FORM } from './proxy-fields.js';

export interface ProxyEditorProps {
  readonly proxy: StoredProxy;
  readonly draft: Draft<ProxyContent, StoredProxy>;
}

/** Changes a Proxy, and shows what it would send. */
export function ProxyEditor({ proxy, draft }: ProxyEditorProps) {
  const { id: tenantId } = useTenant();
  const { destinationUrl } = draft.content;
  return (
    <DefinitionEditor
      kind="proxies"
      draft={draft}
      form={PROXY_FORM}
      save={(content) =>
        call('PATCH /proxies/{id}', { tenantId, params: { id: proxy.id }, body: proxyPatch(draft.base, content) })
      }
      beside={<Preview of={destinationUrl === proxy.destination_url ? { id: proxy.id } : { destinationUrl }} />}
    />
  );
}

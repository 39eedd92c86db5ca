import type { ProxyPreview } from '../../api/generated.js';
import { ScrollText } from '../../code/scroll-text.js';

/** A request as it would be sent. */
export function PreviewResult({ preview: { method, url, headers, body } }: { readonly preview: ProxyPreview }) {
  return (
    <section aria-label="What would be sent" className="space-y-3">
      <ScrollText label="Request">{requestText(method, url, headers, body)}</ScrollText>
      <p className="text-[13px] text-muted">
        Expressions stay as they are written here, because people have no right to use tokens. A private key with
        token:use sees masks in their place from the same call.
      </p>
    </section>
  );
}

function requestText(method: string, url: string, headers: ProxyPreview['headers'], body: unknown): string {
  const lines = [`${method} ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
  if (body === undefined) return lines.join('\n');
  return [...lines, '', typeof body === 'string' ? body : JSON.stringify(body, null, 2)].join('\n');
}

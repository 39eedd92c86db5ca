import { Network } from 'lucide-react';
import { call } from '../../api/call.js';
import { Badge } from '../../ui/badge.js';
import type { Column } from '../../ui/data-table.js';
import type { ListAsked } from '../definitions/definition-list.js';
import { DefinitionList } from '../definitions/definition-list.js';

interface ListedProxy {
  readonly id: string;
  readonly name: string;
  readonly destinationUrl: string;
  readonly requireAuth: boolean;
}

const COLUMNS: readonly Column<ListedProxy>[] = [
  {
    title: 'Destination',
    cell: ({ destinationUrl }) => (
      <code className="font-mono text-[13px] text-muted wrap-anywhere">{destinationUrl}</code>
    ),
  },
  {
    title: 'Callers',
    cell: ({ requireAuth }) =>
      requireAuth ? <Badge>API key</Badge> : <Badge tone="warn">Anybody with its address</Badge>,
  },
];

const EPHEMERAL = `curl ${location.origin}/proxy/charges -H "SVC-API-KEY: $KEY" -H 'SVC-PROXY-URL: https://api.example.com' \\
  -H 'Content-Type: application/json' -d '{"number":"{{ <token id> }}"}'`;

export function ProxiesPage() {
  return (
    <DefinitionList
      kind="proxies"
      icon={Network}
      lead="They send a request of yours to another company with values in place of tokens, and hand its answer back."
      load={load}
      columns={COLUMNS}
      none={{
        text: 'A stored Proxy has its destination, settings and code, so that callers need to know none of them. Without one, a private key with token:use can name the destination in each call:',
        call: EPHEMERAL,
      }}
    />
  );
}

async function load(asked: ListAsked) {
  const { data, pagination } = await call('GET /proxies', asked);
  const rows = data.map(
    (proxy): ListedProxy => ({
      id: proxy.id,
      name: proxy.name,
      destinationUrl: proxy.destination_url,
      requireAuth: proxy.require_auth,
    }),
  );
  return { rows, pagination };
}

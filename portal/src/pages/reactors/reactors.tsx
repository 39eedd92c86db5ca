import { Boxes } from 'lucide-react';
import { call } from '../../api/call.js';
import type { Column } from '../../ui/data-table.js';
import { When } from '../../ui/when.js';
import type { ListAsked } from '../definitions/definition-list.js';
import { DefinitionList } from '../definitions/definition-list.js';

interface ListedReactor {
  readonly id: string;
  readonly name: string;
  readonly application: string | undefined;
  readonly changedAt: string;
}

const COLUMNS: readonly Column<ListedReactor>[] = [
  {
    title: 'Application',
    cell: ({ application }) => <span className="text-muted wrap-anywhere">{application ?? 'None'}</span>,
  },
  {
    title: 'Changed',
    cell: ({ changedAt }) => (
      <span className="whitespace-nowrap text-muted">
        <When at={changedAt} />
      </span>
    ),
  },
];

const CREATE = `curl ${location.origin}/reactors -H "SVC-API-KEY: $KEY" -H 'Content-Type: application/json' \\
  -d '{"name":"Hello","code":"module.exports = async ({ args }) => ({ raw: { hello: args.name } });"}'`;

export function ReactorsPage() {
  return (
    <DefinitionList
      kind="reactors"
      icon={Boxes}
      lead="Code of yours that runs on the values of tokens, so that your systems need not see them."
      load={load}
      columns={COLUMNS}
      none={{
        text: 'A Reactor formats a file, calls a payment provider or checks a number, and the values never leave the vault unless the code sends them. Make one here, or with a key that has reactor:create:',
        call: CREATE,
      }}
    />
  );
}

async function load(asked: ListAsked) {
  const { data, pagination } = await call('GET /reactors', asked);
  const rows = data.map(
    (reactor): ListedReactor => ({
      id: reactor.id,
      name: reactor.name,
      application: reactor.application?.name,
      changedAt: reactor.modified_at ?? reactor.created_at,
    }),
  );
  return { rows, pagination };
}

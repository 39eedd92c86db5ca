import { useMutation, useQuery } from '@tanstack/react-query';
import { Inbox, RotateCw, X } from 'lucide-react';
import { call } from '../../api/call.js';
import type { ReactorRequest } from '../../api/generated.js';
import { pageNumberOf, useAddress } from '../../tenant/use-address.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import type { Tone } from '../../ui/badge.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { FormFault } from '../../ui/form.js';
import { Loaded } from '../../ui/loaded.js';
import { numberText } from '../../ui/numbers.js';
import { Pager } from '../../ui/pager.js';
import { When } from '../../ui/when.js';

const LOOK_AGAIN_MS = 10_000;
const PAGE_SIZE = 20;
const TONES: Readonly<Record<ReactorRequest['state'], Tone>> = {
  ...{ queued: 'plain', running: 'accent', delivering: 'accent', done: 'ok', failed: 'danger', cancelled: 'plain' },
};

/** Calls that are answered later: those that wait, run, are being delivered or failed. */
export function Requests({ reactorId }: { readonly reactorId: string }) {
  const { id: tenantId } = useTenant();
  const { search, change } = useAddress();
  const page = pageNumberOf(search.page);
  const query = useQuery({
    queryKey: ['tenant', tenantId, 'reactors', reactorId, 'requests', page],
    queryFn: ({ signal }) =>
      call('GET /reactors/{id}/requests', {
        ...{ tenantId, signal, params: { id: reactorId }, query: { page, size: PAGE_SIZE } },
      }),
    refetchInterval: ({ state }) => (state.data?.data.some(isUnderWay) ? LOOK_AGAIN_MS : false),
  });
  return (
    <Loaded query={query}>
      {({ data, pagination }) =>
        pagination.total_items === 0 ? (
          <EmptyState icon={Inbox} title="Nothing waits, runs or has failed">
            Calls by react-async or with a callback_url are listed here until they are done. Their arguments and results
            are not shown.
          </EmptyState>
        ) : (
          <div className="space-y-4">
            <RequestTable reactorId={reactorId} requests={data} />
            <Pager label="requests" pagination={pagination} onPage={(next) => change({ page: next })} />
          </div>
        )
      }
    </Loaded>
  );
}

function isUnderWay({ state }: ReactorRequest): boolean {
  return state === 'queued' || state === 'running' || state === 'delivering';
}

interface RequestTableProps {
  readonly reactorId: string;
  readonly requests: readonly ReactorRequest[];
}

function RequestTable({ reactorId, requests }: RequestTableProps) {
  const { mayChange } = useTenant();
  const acts = useRequestActs(reactorId);
  return (
    <div className="space-y-3">
      <FormFault error={acts.error} />
      <DataTable
        label="Requests"
        rows={requests}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Request',
            isHead: true,
            cell: ({ id }) => <code className="font-mono text-[13px] wrap-anywhere">{id}</code>,
          },
          { title: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
          { title: 'Error', cell: ({ error }) => <ErrorText error={error} /> },
          { title: 'Runs', isFigure: true, cell: ({ attempt }) => numberText(attempt) },
          { title: 'Asked', cell: ({ created_at: at }) => <When at={at} /> },
          { title: 'Next try', cell: ({ next_try_at: at }) => (at === undefined ? '–' : <When at={at} isExact />) },
          ...(mayChange
            ? [{ title: 'Acts', cell: (request: ReactorRequest) => <Acts request={request} acts={acts} /> }]
            : []),
        ]}
      />
    </div>
  );
}

function ErrorText({ error }: Pick<ReactorRequest, 'error'>) {
  if (error === undefined) return <span className="text-muted">–</span>;
  return (
    <code className="font-mono text-[13px]">
      {error.code}
      {error.status !== undefined && `, ${error.status}`}
    </code>
  );
}

function useRequestActs(reactorId: string) {
  const { id: tenantId } = useTenant();
  return useMutation({
    mutationFn: ({ id, act }: { readonly id: string; readonly act: 'retry' | 'cancel' }) =>
      call(`POST /reactors/{id}/requests/{request_id}/${act}`, {
        tenantId,
        params: { id: reactorId, request_id: id },
      }),
    onSuccess: () => reloadTenant(tenantId, 'reactors'),
  });
}

interface ActsProps {
  readonly request: ReactorRequest;
  readonly acts: ReturnType<typeof useRequestActs>;
}

function Acts({ request, acts }: ActsProps) {
  const { id } = request;
  const isBusy = acts.isPending && acts.variables.id === id;
  if (request.state === 'failed') {
    return (
      <Button isBusy={isBusy} aria-label={`Retry ${id}`} onClick={() => acts.mutate({ id, act: 'retry' })}>
        {!isBusy && <RotateCw aria-hidden className="size-4" />}
        Retry
      </Button>
    );
  }
  if (!isUnderWay(request)) return null;
  return (
    <Button isBusy={isBusy} aria-label={`Cancel ${id}`} onClick={() => acts.mutate({ id, act: 'cancel' })}>
      {!isBusy && <X aria-hidden className="size-4" />}
      Cancel
    </Button>
  );
}

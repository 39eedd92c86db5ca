import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/call.js';
import type { Application, ApplicationKey } from '../../api/generated.js';
import { useSteppedUp } from '../../session/step-up.js';
import { reloadTenant, useTenant } from '../../tenant/use-tenant.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import type { Column } from '../../ui/data-table.js';
import { DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { FormFault } from '../../ui/form.js';
import { Loaded } from '../../ui/loaded.js';
import { When } from '../../ui/when.js';
import { KeyDialog } from './key-dialog.js';
import { APPLICATIONS_PART, applicationKeysQuery } from './queries.js';
import { RevokeKey } from './revoke-key.js';
import { RotateDialog } from './rotate-dialog.js';

const KEYS_MAX = 10;

export interface KeysCardProps {
  readonly tenantId: string;
  readonly application: Application;
}

/** The keys that work, and how they are replaced. */
export function KeysCard({ tenantId, application: { id } }: KeysCardProps) {
  const { mayChange } = useTenant();
  const query = useQuery(applicationKeysQuery(tenantId, id));
  const [secret, setSecret] = useState<string>();
  const [isRotating, rotate] = useState(false);
  const add = useSteppedUp(
    async () => {
      const { key } = await call('POST /applications/{id}/keys', { tenantId, params: { id }, body: {} });
      setSecret(key); // Not the result of the mutation, which would be remembered.
    },
    () => reloadTenant(tenantId, APPLICATIONS_PART),
  );
  const count = query.data?.length ?? 0;
  return (
    <section className="space-y-4">
      <header className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <h2 className="text-[15px] font-semibold">Keys</h2>
          <p className="mt-1 max-w-prose text-sm text-muted">
            A key is shown once, when it is made. What is stored cannot be turned back into it.
          </p>
        </div>
        {mayChange && (
          <div className="flex flex-wrap gap-2">
            <Button isBusy={add.isPending} disabled={count >= KEYS_MAX} onClick={() => add.mutate(undefined)}>
              <Plus aria-hidden className="size-4" />
              Add a key
            </Button>
            <Button look="primary" onClick={() => rotate(true)}>
              <RefreshCw aria-hidden className="size-4" />
              Rotate
            </Button>
          </div>
        )}
      </header>
      {count >= KEYS_MAX && (
        <p className="text-sm text-muted">There are ten keys, as many as there can be. Revoke one to add another.</p>
      )}
      <FormFault error={add.error} />
      <Loaded query={query}>{(keys) => <Keys tenantId={tenantId} applicationId={id} keys={keys} />}</Loaded>
      {add.dialog}
      <RotateDialog
        tenantId={tenantId}
        applicationId={id}
        isOpen={isRotating}
        onClose={() => rotate(false)}
        onMade={(made) => {
          rotate(false);
          setSecret(made);
        }}
      />
      <KeyDialog secret={secret} title="The new key" onClose={() => setSecret(undefined)} />
    </section>
  );
}

interface KeysProps {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly keys: readonly ApplicationKey[];
}

function Keys({ tenantId, applicationId, keys }: KeysProps) {
  const { mayChange } = useTenant();
  if (keys.length === 0) {
    return (
      <EmptyState icon={KeyRound} title="No key works">
        {mayChange ? 'It cannot call the API. Add a key to let it in.' : 'It cannot call the API.'}
      </EmptyState>
    );
  }
  const columns: readonly Column<ApplicationKey>[] = [
    { title: 'Key', cell: ({ id }) => <span className="font-mono text-[13px] break-all">{id}</span> },
    { title: 'Created', cell: ({ created_at: at }) => <When at={at} /> },
    {
      title: 'Last use',
      cell: ({ last_used_at: at }) => (at ? <When at={at} /> : <span className="text-muted">Never used</span>),
    },
    {
      title: 'Ends',
      cell: ({ expires_at: at }) => (at ? <Ending at={at} /> : <span className="text-muted">Never</span>),
    },
    ...(mayChange
      ? [
          {
            title: 'Act',
            cell: (key: ApplicationKey) => (
              <RevokeKey tenantId={tenantId} applicationId={applicationId} keyId={key.id} isLast={keys.length === 1} />
            ),
          },
        ]
      : []),
  ];
  return <DataTable label="Keys" columns={columns} rows={keys} keyOf={({ id }) => id} />;
}

function Ending({ at }: { readonly at: string }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      <When at={at} />
      <Badge tone="warn">Replaced</Badge>
    </span>
  );
}

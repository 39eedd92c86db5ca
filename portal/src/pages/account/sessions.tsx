import { useMutation, useQuery } from '@tanstack/react-query';
import { Laptop } from 'lucide-react';
import { call } from '../../api/call.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { FormFault } from '../../ui/form.js';
import { When } from '../../ui/when.js';
import { browserOf } from './browser-of.js';
import { reloadAccount } from './use-factors.js';

export function SessionsCard() {
  const { data: sessions } = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => call('GET /portal/api/sessions', { signal }),
  });
  const end = useMutation({
    mutationFn: (id: string) => call('DELETE /portal/api/sessions/{id}', { params: { id } }),
    onSuccess: reloadAccount,
  });
  const others = sessions?.filter(({ is_current: isCurrent }) => !isCurrent) ?? [];
  const endOthers = useMutation({
    mutationFn: async () => {
      for (const { id } of others) await call('DELETE /portal/api/sessions/{id}', { params: { id } });
    },
    onSettled: reloadAccount,
  });
  return (
    <Card title="Sessions" lead="Where you are signed in. One that you do not know: end it, and change your password.">
      <ul className="divide-y divide-line">
        {sessions?.map(({ id, is_current: isCurrent, agent, address, seen_at: seenAt }) => (
          <li key={id} className="flex items-center justify-between gap-3 py-3">
            <div className="flex min-w-0 items-center gap-3">
              <Laptop aria-hidden className="size-4 shrink-0 text-muted" />
              <div className="min-w-0">
                <p className="truncate text-sm font-medium">{browserOf(agent)}</p>
                <p className="text-[13px] text-muted">
                  {address ?? 'unknown address'}, seen <When at={seenAt} />
                </p>
              </div>
            </div>
            {isCurrent ? (
              <span className="shrink-0 rounded-full bg-ok-soft px-2.5 py-1 text-xs font-medium text-ok">This one</span>
            ) : (
              <Button look="danger" isBusy={end.isPending && end.variables === id} onClick={() => end.mutate(id)}>
                End
              </Button>
            )}
          </li>
        ))}
      </ul>
      {others.length > 1 && (
        <Button look="danger" isBusy={endOthers.isPending} onClick={() => endOthers.mutate()}>
          End all others
        </Button>
      )}
      <FormFault error={end.error ?? endOthers.error} />
    </Card>
  );
}

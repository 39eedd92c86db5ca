import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call } from '../api/call.js';
import { useMe } from '../session/use-me.js';

const KEPT_MS = 300_000;
const ASKED_MAX = 100;

export interface KnownActor {
  readonly id: string | undefined;
  /** As the log has it. Of unknown kind: it is looked for among both. */
  readonly kind?: string | undefined;
}

/** What those who acted are called: Applications by name, people by address. Who is gone has no name any more. */
export function useActorNames(tenantId: string, actors: readonly KnownActor[]): (id: string) => string | undefined {
  const { data: me } = useMe();
  const own = me?.user.id;
  const idsOf = (kind: string) => {
    const ids = actors.flatMap((actor) =>
      actor.id === undefined || actor.id === own || (actor.kind ?? kind) !== kind ? [] : [actor.id],
    );
    return [...new Set(ids)].sort().slice(0, ASKED_MAX);
  };
  const applicationIds = idsOf('application');
  const { data: applications } = useQuery({
    queryKey: ['tenant', tenantId, 'application-names', applicationIds],
    queryFn: async ({ signal }) => {
      const query = { id: applicationIds, size: ASKED_MAX };
      const { data } = await call('GET /applications', { tenantId, query, signal });
      return Object.fromEntries(data.map(({ id, name }) => [id, name]));
    },
    enabled: me !== undefined && applicationIds.length > 0,
    staleTime: KEPT_MS,
    placeholderData: keepPreviousData,
  });
  // Who is known by now is not asked for again.
  const isSettled = applicationIds.length === 0 || applications !== undefined;
  const userIds = isSettled ? idsOf('user').filter((id) => applications?.[id] === undefined) : [];
  const { data: people } = useQuery({
    queryKey: ['tenant', tenantId, 'people-names', userIds],
    queryFn: async ({ signal }) => {
      const query = { user_id: userIds, size: ASKED_MAX };
      const { data } = await call('GET /tenants/self/members', { tenantId, query, signal });
      return Object.fromEntries(data.map(({ user }) => [user.id, user.email ?? user.id]));
    },
    enabled: me !== undefined && userIds.length > 0,
    staleTime: KEPT_MS,
    placeholderData: keepPreviousData,
  });
  return (id) => (id === own ? me?.user.email : (applications?.[id] ?? people?.[id]));
}

import { useCallback, useEffect, useRef } from 'react';
import type { Log } from '../../api/generated.js';
import { queryClient } from '../../api/query-client.js';
import type { LogSearchUse } from './log-search.js';

/** Opens the details of an entry. It is always the same function, so that rows need not be drawn again. */
export function useOpenEntry(tenantId: string, { show }: LogSearchUse): (entry: Log) => void {
  const latest = useRef(show);
  useEffect(() => {
    latest.current = show;
  });
  return useCallback(
    (entry: Log) => {
      // A tail may let go of the row while its details are open.
      queryClient.setQueryData(['tenant', tenantId, 'logs', 'entry', entry.id], entry);
      latest.current({ entry: entry.id });
    },
    [tenantId],
  );
}

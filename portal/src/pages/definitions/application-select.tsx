import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Select } from '../../ui/select.js';

const PAGE_SIZE = 100;
/** Who has more of them names one by its id with the API. */
const PAGES_MAX = 5;

/** The Applications that code can act as, by id. */
export function useCodeApplications() {
  const { id: tenantId } = useTenant();
  return useQuery({
    queryKey: ['tenant', tenantId, 'applications', 'for-code'],
    queryFn: async ({ signal }) => {
      const found = new Map<string, string>();
      for (let page = 1; page <= PAGES_MAX; page += 1) {
        const query = { type: ['public', 'private'] as const, size: PAGE_SIZE, page };
        const { data, pagination } = await call('GET /applications', { tenantId, signal, query });
        for (const { id, name, type } of data) found.set(id, `${name} (${type})`);
        if (page >= pagination.total_pages) break;
      }
      return found;
    },
  });
}

export interface ApplicationSelectProps {
  /** Empty for none. */
  readonly value: string;
  readonly onChange: (id: string) => void;
  readonly hint: string;
  readonly error: string | undefined;
  readonly mayChange: boolean;
}

export function ApplicationSelect({ value, onChange, hint, error, mayChange }: ApplicationSelectProps) {
  const { data: applications = new Map<string, string>() } = useCodeApplications();
  // One that is not among those listed still stays chosen.
  const listed = value === '' || applications.has(value) ? applications : new Map([[value, value], ...applications]);
  return (
    <Select
      label="Application"
      value={value}
      disabled={!mayChange}
      onChange={(event) => onChange(event.target.value)}
      hint={hint}
      error={error}
      options={[{ value: '', text: 'None' }, ...[...listed].map(([id, text]) => ({ value: id, text }))]}
    />
  );
}

import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Select } from '../../ui/select.js';

const SHOWN_MAX = 100;

/** The Applications that code can act as, by id. */
export function useCodeApplications() {
  const { id: tenantId } = useTenant();
  return useQuery({
    queryKey: ['tenant', tenantId, 'applications', 'for-code'],
    queryFn: async ({ signal }) => {
      const { data } = await call('GET /applications', {
        ...{ tenantId, signal, query: { type: ['public', 'private'], size: SHOWN_MAX } },
      });
      return new Map(data.map(({ id, name, type }) => [id, `${name} (${type})`]));
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

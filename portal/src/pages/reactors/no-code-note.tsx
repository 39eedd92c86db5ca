import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import { Callout } from '../../ui/callout.js';
import { CodeLine } from '../../ui/code-line.js';

/** Why no code runs on this server, and what to do about it. */
export function NoCodeNote() {
  const { data } = useQuery({
    queryKey: ['readiness'],
    queryFn: ({ signal }) => call('GET /readyz', { signal }),
    retry: false,
  });
  return (
    <Callout tone="warn" title="No code runs on this server">
      <div className="space-y-2">
        {data?.reactors.reason && <p>{data.reactors.reason}.</p>}
        <p>
          Reactors are stored and can be edited, but calls and tests of them are refused. Code needs Linux with user
          namespaces or Landlock. Whoever operates the server learns more from this command:
        </p>
        <CodeLine text="strongroom doctor" />
      </div>
    </Callout>
  );
}

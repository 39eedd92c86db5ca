import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call } from '../../api/call.js';
import { ApiFault } from '../../api/fault.js';
import type {
  PortalAccessPreviewInput,
  PortalPreviewedContainer,
  PortalPreviewedOperation,
} from '../../api/generated.js';
import { Badge } from '../../ui/badge.js';
import { Callout } from '../../ui/callout.js';
import { classes } from '../../ui/classes.js';
import { Loaded } from '../../ui/loaded.js';
import { partsOfPermission } from './permission-words.js';
import { TRANSFORMS } from './transforms.js';

const SETTLED_MS = 350;
/** Where tokens of the known types are, so that there is something to see before the first token. */
const USUAL = ['/general/high/', '/pci/high/', '/bank/high/', '/pii/high/'];
const CONTAINER = /^\/(?:[A-Za-z0-9_-]+\/)*$/;
const GIVEN_MAX = 50;

export interface AccessPreviewProps {
  readonly tenantId: string;
  readonly rights: Omit<PortalAccessPreviewInput, 'containers'>;
  /** Beside a form there is room for one column. */
  readonly isNarrow?: boolean;
}

/** What somebody with these rights would see and could do, as the server judges it. */
export function AccessPreview({ tenantId, rights, isNarrow = false }: AccessPreviewProps) {
  const body = useSettled(JSON.stringify({ ...rights, containers: containersOf(rights) }));
  const query = useQuery({
    queryKey: ['tenant', tenantId, 'access-preview', body],
    queryFn: ({ signal }) =>
      call('POST /portal/api/tenants/{tenant_id}/access-preview', {
        params: { tenant_id: tenantId },
        body: JSON.parse(body) as PortalAccessPreviewInput, // What was written above.
        signal,
      }),
    placeholderData: keepPreviousData,
  });
  if (query.error instanceof ApiFault && query.error.status === 400) {
    return (
      <Callout tone="warn" title="No preview yet">
        {query.error.besides([])?.replace(/rules\[\d+\]\.(\w+)/g, 'The $1 of a rule')}
      </Callout>
    );
  }
  return (
    <Loaded query={query}>
      {({ containers, has_more: hasMore }) => (
        <div className="space-y-3">
          <ul
            className={classes('grid grid-cols-1 gap-3', !isNarrow && 'md:grid-cols-2')}
            aria-busy={query.isPlaceholderData}
          >
            {containers.map((container) => (
              <li key={container.container}>
                <SeenContainer seen={container} isNarrow={isNarrow} />
              </li>
            ))}
          </ul>
          {hasMore && <p className="text-[13px] text-muted">There are more containers with tokens than are shown.</p>}
        </div>
      )}
    </Loaded>
  );
}

/** The last one that stayed for a moment. */
function useSettled(text: string): string {
  const [settled, settle] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => settle(text), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

function containersOf({ rules }: AccessPreviewProps['rights']): readonly string[] {
  const named = (rules ?? []).flatMap(({ container }) => (container && CONTAINER.test(container) ? [container] : []));
  return [...new Set([...named.map((each) => each.toLowerCase()), ...USUAL])].slice(0, GIVEN_MAX);
}

const SEES = {
  reveal: ['warn', 'Reads plain data'],
  mask: ['ok', 'Reads masked data'],
  redact: ['plain', 'Reads no data'],
  nothing: ['plain', 'Cannot read'],
} as const;

interface SeenContainerProps {
  readonly seen: PortalPreviewedContainer;
  readonly isNarrow: boolean;
}

function SeenContainer({ seen, isNarrow }: SeenContainerProps) {
  const { container, has_tokens: hasTokens, sees, operations } = seen;
  const [tone, text] = SEES[sees];
  return (
    <section aria-label={container} className="rounded-lg border border-line bg-card p-3">
      <header className="flex flex-wrap items-center justify-between gap-2">
        <p className="min-w-0 font-mono text-[13px] font-medium break-all">{container}</p>
        <Badge tone={tone}>{text}</Badge>
      </header>
      {!hasTokens && <p className="text-xs text-muted">No tokens here yet</p>}
      {isNarrow ? (
        <ShortOperations operations={operations} />
      ) : (
        <dl className="mt-2 grid grid-cols-3 gap-x-3 gap-y-2">
          {operations.map((operation) => (
            <SeenOperation key={operation.permission} operation={operation} />
          ))}
        </dl>
      )}
    </section>
  );
}

/** Only what it could do, in a line. */
function ShortOperations({ operations }: Pick<PortalPreviewedContainer, 'operations'>) {
  const granted = operations.filter(({ is_granted: isGranted }) => isGranted);
  return (
    <p className="mt-1 text-[13px] text-muted">
      {granted.length === 0
        ? 'It can do nothing here.'
        : granted.map((each) => `${partsOfPermission(each.permission).action}: ${shortOutcome(each)}`).join(', ')}
    </p>
  );
}

function shortOutcome(operation: PortalPreviewedOperation): string {
  const { rule_priority: priority } = operation;
  return `${outcomeText(operation).toLowerCase()}${priority === undefined ? '' : ` (priority ${priority})`}`;
}

function SeenOperation({ operation }: { readonly operation: PortalPreviewedOperation }) {
  const { permission, is_granted: isGranted, rule_priority: priority } = operation;
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{partsOfPermission(permission).action}</dt>
      <dd className={classes('text-[13px]', isGranted ? 'font-medium' : 'text-muted')}>
        {outcomeText(operation)}
        {isGranted && (
          <span className="block text-xs font-normal text-muted">
            {priority === undefined ? 'by permission' : `by priority ${priority}`}
          </span>
        )}
      </dd>
    </div>
  );
}

function outcomeText({ permission, is_granted: isGranted, transform }: PortalPreviewedOperation): string {
  if (!isGranted) return 'No';
  if (transform === undefined || permission === 'token:delete') return 'Yes';
  return TRANSFORMS[transform].text;
}

import { Link, useNavigate } from '@tanstack/react-router';
import { Building2, ChevronsUpDown, List } from 'lucide-react';
import { useMe } from '../session/use-me.js';
import { Menu } from '../ui/menu.js';
import { TENANT_PAGES } from './pages.js';
import { useTenant } from './use-tenant.js';

/** Where one can go within the tenant, and to which other one. */
export function TenantNavigation({ onGone }: { readonly onGone?: () => void }) {
  const { id } = useTenant();
  return (
    <div className="flex h-full flex-col gap-5 overflow-y-auto p-4">
      <TenantSwitch />
      <nav aria-label="Tenant" className="space-y-5">
        {TENANT_PAGES.map(({ title, pages }) => (
          <div key={title}>
            <p className="px-3 pb-1 text-xs font-medium tracking-wide text-muted uppercase">{title}</p>
            <ul className="space-y-0.5">
              {pages.map(({ to, text, icon: Icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    params={{ tenantId: id }}
                    {...(onGone && { onClick: onGone })}
                    className="flex items-center gap-3 rounded-lg px-3 py-2 text-sm text-muted hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent"
                  >
                    <Icon aria-hidden className="size-4" />
                    {text}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
    </div>
  );
}

function TenantSwitch() {
  const navigate = useNavigate();
  const { data: me } = useMe();
  const { membership } = useTenant();
  const name = membership?.name ?? 'Tenant';
  return (
    <Menu
      label={`${name}. Change to another tenant`}
      triggerClassName="flex w-full items-center gap-2.5 rounded-lg border border-line-strong px-3 py-2 text-left text-sm font-medium hover:bg-sunken"
      trigger={
        <>
          <Building2 aria-hidden className="size-4 shrink-0 text-accent" />
          <span className="min-w-0 flex-1 truncate">{name}</span>
          <ChevronsUpDown aria-hidden className="size-4 shrink-0 text-muted" />
        </>
      }
      items={[
        ...(me?.memberships ?? []).map(({ tenant_id: tenantId, name: text }) => ({
          key: tenantId,
          text,
          icon: <Building2 aria-hidden className="size-4 text-muted" />,
          onSelect: () => navigate({ to: '/tenants/$tenantId/overview', params: { tenantId } }),
        })),
        {
          key: 'all',
          text: 'All tenants',
          icon: <List aria-hidden className="size-4 text-muted" />,
          onSelect: () => navigate({ to: '/tenants' }),
        },
      ]}
    />
  );
}

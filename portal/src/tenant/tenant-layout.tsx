import { Outlet } from '@tanstack/react-router';
import { useMe } from '../session/use-me.js';
import { Callout } from '../ui/callout.js';
import { TenantNavigation } from './navigation.js';
import { SecondFactorDemand } from './second-factor-demand.js';
import { useTenant } from './use-tenant.js';

/** Around every page of a tenant. */
export function TenantLayout() {
  const { data: me } = useMe();
  const { membership } = useTenant();
  if (me && !membership) {
    return (
      <main id="main" className="mx-auto max-w-3xl px-4 py-8">
        <Callout tone="warn" title="There is no such tenant, or you are not a member of it">
          Ask who sent you here for an invitation, or choose one of your own tenants.
        </Callout>
      </main>
    );
  }
  return (
    <div className="mx-auto flex max-w-[90rem]">
      <aside className="sticky top-14 hidden h-[calc(100dvh-3.5rem)] w-60 shrink-0 border-r border-line lg:block">
        <TenantNavigation />
      </aside>
      <main id="main" className="min-w-0 flex-1 space-y-6 px-4 py-6 sm:px-8 sm:py-8">
        <SecondFactorDemand />
        <Outlet />
      </main>
    </div>
  );
}

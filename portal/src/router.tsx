import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiFault } from './api/fault.js';
import { LIMIT_SECONDS, queryClient } from './api/query-client.js';
import { HomePage } from './pages/home.js';
import { NotSecure, SignInPage } from './pages/sign-in.js';
import { ME } from './session/use-me.js';
import { hereForSignIn, takeWayBack } from './session/way-back.js';
import { Shell } from './shell/shell.js';
import { TenantLayout } from './tenant/tenant-layout.js';
import { Button } from './ui/button.js';
import { Callout } from './ui/callout.js';
import { EntryPage } from './ui/entry-page.js';

/** What stands behind the question mark of an address: texts, as they are written there. */
type Search = { readonly [name: string]: string | undefined };

const root = createRootRoute({
  component: Root,
  notFoundComponent: NotFound,
  errorComponent: Failed,
  validateSearch: (search): Search => search as Search, // The router below reads nothing but texts.
});

const page = <Path extends string>(
  path: Path,
  component: (() => React.ReactNode) | ReturnType<typeof lazyRouteComponent>,
) => createRoute({ getParentRoute: () => root, path, component });

/** Pages for who is signed in. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Shell,
  beforeLoad: async () => {
    if (!isSecureContext) return;
    try {
      await queryClient.ensureQueryData(ME);
    } catch (error) {
      if (error instanceof ApiFault && error.status === 401)
        throw redirect({ to: '/sign-in', search: hereForSignIn() });
      throw error;
    }
  },
});

const signedIn = <Path extends string>(
  path: Path,
  component: (() => React.ReactNode) | ReturnType<typeof lazyRouteComponent>,
) => createRoute({ getParentRoute: () => inside, path, component });

/** Somebody with one tenant has nothing to choose. */
const start = createRoute({
  getParentRoute: () => inside,
  path: '/',
  beforeLoad: async () => {
    if (!isSecureContext) return;
    const { memberships } = await queryClient.ensureQueryData(ME);
    const left = takeWayBack();
    if (left !== undefined) throw redirect({ href: left });
    const [only] = memberships;
    if (only === undefined || memberships.length > 1) throw redirect({ to: '/tenants' });
    throw redirect({ to: '/tenants/$tenantId/overview', params: { tenantId: only.tenant_id } });
  },
});

const tenant = createRoute({ getParentRoute: () => inside, path: '/tenants/$tenantId', component: TenantLayout });

const ofTenant = <Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => tenant, path, component });

const SetUpPage = lazyRouteComponent(() => import('./pages/set-up.js'), 'SetUpPage');
const AcceptInvitationPage = lazyRouteComponent(() => import('./pages/accept-invitation.js'), 'AcceptInvitationPage');
const waysBack = () => import('./pages/ways-back.js');
const ForgottenPasswordPage = lazyRouteComponent(waysBack, 'ForgottenPasswordPage');
const ResetPasswordPage = lazyRouteComponent(waysBack, 'ResetPasswordPage');
const ConfirmEmailPage = lazyRouteComponent(waysBack, 'ConfirmEmailPage');
const AccountPage = lazyRouteComponent(() => import('./pages/account/account.js'), 'AccountPage');

export const router = createRouter({
  basepath: '/portal',
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: searchText,
  routeTree: root.addChildren([
    page('/sign-in', SignInPage),
    page('/set-up', SetUpPage),
    page('/invitations/accept', AcceptInvitationPage),
    page('/forgotten-password', ForgottenPasswordPage),
    page('/reset-password', ResetPasswordPage),
    page('/confirm-email', ConfirmEmailPage),
    page('/not-secure', NotSecure),
    inside.addChildren([
      start,
      signedIn('/tenants', HomePage),
      signedIn('/account', AccountPage),
      signedIn('/account/sessions', AccountPage),
      tenant.addChildren([
        ofTenant(
          'overview',
          lazyRouteComponent(() => import('./pages/overview/overview.js'), 'OverviewPage'),
        ),
        ofTenant(
          'tokens',
          lazyRouteComponent(() => import('./pages/tokens/tokens.js'), 'TokensPage'),
        ),
        ofTenant(
          'tokens/$tokenId',
          lazyRouteComponent(() => import('./pages/tokens/token.js'), 'TokenPage'),
        ),
        ofTenant(
          'applications',
          lazyRouteComponent(() => import('./pages/applications/applications.js'), 'ApplicationsPage'),
        ),
        ofTenant(
          'applications/new',
          lazyRouteComponent(() => import('./pages/applications/new-application.js'), 'NewApplicationPage'),
        ),
        ofTenant(
          'applications/$applicationId',
          lazyRouteComponent(() => import('./pages/applications/application.js'), 'ApplicationPage'),
        ),
        ofTenant(
          'applications/$applicationId/edit',
          lazyRouteComponent(() => import('./pages/applications/edit-application.js'), 'EditApplicationPage'),
        ),
        ofTenant(
          'reactors',
          lazyRouteComponent(() => import('./pages/reactors/reactors.js'), 'ReactorsPage'),
        ),
        ofTenant(
          'reactors/new',
          lazyRouteComponent(() => import('./pages/reactors/new-reactor.js'), 'NewReactorPage'),
        ),
        ofTenant(
          'reactors/$reactorId',
          lazyRouteComponent(() => import('./pages/reactors/reactor.js'), 'ReactorPage'),
        ),
        ofTenant(
          'proxies',
          lazyRouteComponent(() => import('./pages/proxies/proxies.js'), 'ProxiesPage'),
        ),
        ofTenant(
          'proxies/new',
          lazyRouteComponent(() => import('./pages/proxies/new-proxy.js'), 'NewProxyPage'),
        ),
        ofTenant(
          'proxies/$proxyId',
          lazyRouteComponent(() => import('./pages/proxies/proxy.js'), 'ProxyPage'),
        ),
        ofTenant(
          'logs',
          lazyRouteComponent(() => import('./pages/logs/logs.js'), 'LogsPage'),
        ),
        ofTenant(
          'usage',
          lazyRouteComponent(() => import('./pages/usage/usage.js'), 'UsagePage'),
        ),
        ofTenant(
          'members',
          lazyRouteComponent(() => import('./pages/members/members.js'), 'MembersPage'),
        ),
        ofTenant(
          'settings',
          lazyRouteComponent(() => import('./pages/settings/settings.js'), 'SettingsPage'),
        ),
      ]),
    ]),
  ]),
});

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: typeof router;
  }
}

function searchText(search: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(search).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

/** Without TLS from another host nobody stays signed in, and nothing secret may be typed. */
function Root() {
  return isSecureContext ? <Outlet /> : <NotSecure />;
}

function NotFound() {
  return (
    <EntryPage title="There is no such page">
      <p className="text-sm text-muted">The address may be mistyped, or the page has moved.</p>
      <Link to="/" className="text-sm font-medium text-accent underline underline-offset-4">
        To the start
      </Link>
    </EntryPage>
  );
}

function Failed({ error }: { readonly error: unknown }) {
  const limit = error instanceof ApiFault && error.isLimit ? error : undefined;
  useEffect(() => {
    if (!limit) return;
    const timer = setTimeout(() => location.reload(), (limit.retryAfterSeconds ?? LIMIT_SECONDS) * 1_000);
    return () => clearTimeout(timer);
  }, [limit]);
  // How long that takes is told by the one notice for a limit.
  if (limit) return <EntryPage title="One moment" lead="This page opens by itself." />;
  return (
    <EntryPage title="Something went wrong">
      <Callout tone="danger">{error instanceof ApiFault ? error.message : 'The page could not be shown.'}</Callout>
      <Button onClick={() => location.reload()}>Try again</Button>
    </EntryPage>
  );
}

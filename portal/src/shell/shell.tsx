import { useMutation } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router';
import { LogOut, Search, UserRound } from 'lucide-react';
import { useState } from 'react';
import { call } from '../api/call.js';
import { queryClient } from '../api/query-client.js';
import { useMe } from '../session/use-me.js';
import { useEndedSession, useSamePerson } from '../session/way-back.js';
import { Brand } from '../ui/brand.js';
import { ThemeButton } from '../ui/theme.js';
import { TimesButton } from '../ui/when.js';
import { KeyboardHelp } from './keyboard-help.js';
import { NarrowNavigation } from './narrow-navigation.js';
import { Palette } from './palette.js';
import type { Overlay } from './use-shortcuts.js';
import { useShortcuts } from './use-shortcuts.js';

/** Around every page for who is signed in. */
export function Shell() {
  const { tenantId } = useParams({ strict: false });
  const [overlay, setOverlay] = useState<Overlay>();
  useShortcuts(setOverlay);
  useEndedSession();
  useSamePerson();
  const close = () => setOverlay(undefined);
  return (
    <div className="min-h-dvh">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-20 focus:m-2 focus:rounded focus:bg-card focus:p-2"
      >
        Skip to the page
      </a>
      <header className="sticky top-0 z-10 border-b border-line bg-card">
        <div className="mx-auto flex h-14 max-w-[90rem] items-center gap-2 px-4">
          {tenantId !== undefined && <NarrowNavigation />}
          <Link to="/" aria-label="Strongroom, to the start" className="mr-auto inline-flex rounded-lg">
            <Brand />
          </Link>
          <PaletteButton onOpen={() => setOverlay('palette')} />
          <OwnNavigation />
        </div>
      </header>
      {tenantId === undefined ? (
        <main id="main" className="mx-auto max-w-6xl px-4 py-8">
          <Outlet />
        </main>
      ) : (
        <Outlet />
      )}
      <Palette isOpen={overlay === 'palette'} onClose={close} />
      <KeyboardHelp isOpen={overlay === 'help'} onClose={close} />
    </div>
  );
}

function PaletteButton({ onOpen }: { readonly onOpen: () => void }) {
  return (
    <button
      type="button"
      onClick={onOpen}
      className="inline-flex h-9 items-center gap-2 rounded-lg border border-line-strong px-3 text-sm text-muted hover:bg-sunken hover:text-ink"
    >
      <Search aria-hidden className="size-4" />
      <span className="max-md:sr-only">Search or paste an id</span>
      <kbd aria-hidden className="rounded border border-line px-1.5 font-sans text-xs max-md:hidden">
        ⌘K
      </kbd>
    </button>
  );
}

function OwnNavigation() {
  const navigate = useNavigate();
  const { data: me } = useMe();
  const signOut = useMutation({
    mutationFn: () => call('POST /portal/api/sign-out', {}),
    onSettled: async () => {
      queryClient.clear();
      await navigate({ to: '/sign-in' });
    },
  });
  return (
    <nav aria-label="You" className="flex items-center gap-1">
      <TimesButton />
      <ThemeButton />
      <Link
        to="/account"
        className="inline-flex h-9 items-center gap-2 rounded-lg px-2 text-sm text-muted hover:bg-sunken hover:text-ink"
      >
        <UserRound aria-hidden className="size-4" />
        <span className="max-w-48 truncate max-xl:sr-only">{me?.user.email ?? 'Your account'}</span>
      </Link>
      <button
        type="button"
        onClick={() => signOut.mutate()}
        aria-label="Sign out"
        title="Sign out"
        className="inline-flex size-9 items-center justify-center rounded-lg text-muted hover:bg-sunken hover:text-ink"
      >
        <LogOut aria-hidden className="size-4" />
      </button>
    </nav>
  );
}

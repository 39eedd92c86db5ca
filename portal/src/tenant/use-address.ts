import { useNavigate, useSearch } from '@tanstack/react-router';

type Texts = Readonly<Record<string, string | undefined>>;

/** What stands behind the question mark of the address, and a way to change it: what is shown can be reloaded and sent on. */
export function useAddress() {
  const search: Texts = useSearch({ strict: false });
  const navigate = useNavigate();
  return {
    search,
    /** Changes the named ones. A replaced address is none to go back to. */
    change: (texts: Texts, isReplaced = false) =>
      navigate({
        to: '.',
        search: (old: Texts) => ({ ...old, ...texts }),
        replace: isReplaced,
        resetScroll: false,
      }),
  };
}

/** The page of a list that the address names. */
export function pageNumberOf(text: string | undefined): number {
  const page = Number(text ?? '1');
  return Number.isInteger(page) && page > 0 ? page : 1;
}

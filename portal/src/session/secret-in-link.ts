/** The secret of a link stands behind `#`, which no server sees. It is taken out of the address at once. */
let taken: string | undefined;

export function secretInLink(): string {
  const found = location.hash.slice(1);
  if (found !== '') {
    taken = found;
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  return taken ?? '';
}

import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useId, useState } from 'react';
import { useMe } from '../session/use-me.js';
import { classes } from '../ui/classes.js';
import { Dialog } from '../ui/dialog.js';
import { offersFor } from './offers.js';
import { usePageOfId } from './use-page-of-id.js';

/** Goes anywhere by a few letters, or to what a pasted id belongs to. */
export function Palette({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Go to">
      <Choice onClose={onClose} />
    </Dialog>
  );
}

function Choice({ onClose }: { readonly onClose: () => void }) {
  const id = useId();
  const navigate = useNavigate();
  const { tenantId } = useParams({ strict: false });
  const { data: me } = useMe();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { data: page, isFetching } = usePageOfId(tenantId, text);
  const [isGoing, setGoing] = useState(false);
  const offers = offersFor(text, tenantId, me?.memberships ?? [], page ?? undefined);
  const chosen = Math.min(at, offers.length - 1);
  const go = (place: number) => {
    const offer = offers[place];
    if (!offer) return;
    onClose();
    void navigate({ to: offer.to, ...(offer.search && { search: offer.search }) });
  };
  // An id that was pasted and sent off at once goes where it belongs, as soon as that is known.
  useEffect(() => {
    if (isGoing && !isFetching) go(0);
  });
  return (
    <>
      <input
        role="combobox"
        aria-label="A page, a tenant or an id"
        aria-expanded
        aria-controls={`${id}-list`}
        aria-activedescendant={offers.length > 0 ? `${id}-${chosen}` : undefined}
        // biome-ignore lint/a11y/noAutofocus: the dialog was opened to type here
        autoFocus
        autoComplete="off"
        spellCheck={false}
        placeholder="A page, a tenant or an id"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
          setGoing(false);
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
          if (step !== 0) setAt((chosen + step + offers.length) % Math.max(1, offers.length));
          if (event.key === 'Enter' && isFetching && chosen === 0) setGoing(true);
          else if (event.key === 'Enter') go(chosen);
          if (step !== 0 || event.key === 'Enter') event.preventDefault();
        }}
        className="h-11 w-full rounded-lg border border-line-strong bg-card px-3 placeholder:text-muted"
      />
      <div id={`${id}-list`} role="listbox" aria-label="Where to" className="max-h-80 overflow-y-auto">
        {offers.map((offer, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the input
          <div
            key={offer.key}
            id={`${id}-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === chosen}
            onClick={() => go(place)}
            className={classes(
              'flex cursor-pointer items-center justify-between gap-3 rounded-lg px-3 py-2 text-sm',
              place === chosen && 'bg-accent-soft text-accent',
            )}
          >
            <span className="min-w-0 truncate">{offer.text}</span>
            <span className="shrink-0 text-xs text-muted">{offer.kind}</span>
          </div>
        ))}
      </div>
      {offers.length === 0 && (
        <p role="status" className="text-sm text-muted">
          Nothing is called that. Ids are looked up as a whole.
        </p>
      )}
    </>
  );
}

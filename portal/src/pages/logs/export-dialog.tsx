import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { ApiFault } from '../../api/fault.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { FormFault } from '../../ui/form.js';
import type { LogSearchUse } from './log-search.js';
import { boundsOf } from './log-search.js';

const FORMATS = [
  { format: 'csv', title: 'CSV', text: 'For spreadsheets.' },
  { format: 'ndjson', title: 'NDJSON', text: 'One JSON object a line, for programs.' },
] as const;

/** A download that is refused says so in the browser's own list at best: the same is asked for without its content first. */
async function askFirst(href: string): Promise<string> {
  const answer = await fetch(href, { method: 'HEAD', credentials: 'same-origin', cache: 'no-store' }).catch(
    () => undefined,
  );
  if (answer?.ok) return href;
  throw new ApiFault(answer?.status ?? 0, 'export_refused', 'The server gives no file now. Try again shortly.');
}

function download(href: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = '';
  link.click();
}

/** The entries of the filter as a file. */
export function ExportButton({ use: { search, filter } }: { readonly use: LogSearchUse }) {
  const { id } = useTenant();
  const [isOpen, setOpen] = useState(false);
  const hrefOf = (format: string) => {
    const query = new URLSearchParams({ ...filter, ...boundsOf(search, Date.now()), format });
    return `/portal/api/tenants/${encodeURIComponent(id)}/logs/export?${query}`;
  };
  const start = useMutation({ mutationFn: askFirst, onSuccess: download });
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <Download aria-hidden className="size-4" />
        Export
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title="Export the log"
        lead="The file has every entry that the filter matches, newest first. The export is logged, with your name."
      >
        <ul className="space-y-3">
          {isOpen &&
            FORMATS.map(({ format, title, text }) => (
              <li key={format}>
                <a
                  href={hrefOf(format)}
                  download
                  onClick={(event) => {
                    event.preventDefault();
                    start.mutate(event.currentTarget.href);
                  }}
                  className="flex items-center gap-3 rounded-lg border border-line-strong px-4 py-3 text-sm hover:bg-sunken"
                >
                  <Download aria-hidden className="size-4 shrink-0 text-accent" />
                  <span>
                    <span className="font-medium">{title}</span>
                    <span className="block text-[13px] text-muted">{text}</span>
                  </span>
                </a>
              </li>
            ))}
        </ul>
        <FormFault error={start.error} />
        <div className="flex justify-end">
          <Button look="quiet" onClick={() => setOpen(false)}>
            Close
          </Button>
        </div>
      </Dialog>
    </>
  );
}

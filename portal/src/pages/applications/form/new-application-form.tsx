import { Link2 } from 'lucide-react';
import { curlLine } from '../../../api/curl-line.js';
import { useTenant } from '../../../tenant/use-tenant.js';
import { Button } from '../../../ui/button.js';
import { CodeBlock } from '../../../ui/code-block.js';
import { announce } from '../../../ui/notices.js';
import type { ApplicationFormProps } from './application-form.js';
import { ApplicationForm } from './application-form.js';
import { bodyOfDraft } from './draft.js';
import { DraftPreview } from './draft-preview.js';
import { linkToDraft } from './from-address.js';

export interface NewApplicationFormProps extends Omit<ApplicationFormProps, 'children'> {
  readonly isBusy: boolean;
}

/** The form, with what it amounts to beside it. */
export function NewApplicationForm({ isBusy, ...form }: NewApplicationFormProps) {
  const { id: tenantId } = useTenant();
  const { type, draft } = form;
  return (
    <div className="grid grid-cols-1 items-start gap-6 xl:grid-cols-[minmax(0,1fr)_23rem]">
      <ApplicationForm {...form}>
        <Button look="quiet" onClick={() => copyLink(linkToDraft(type, draft), draft.rules.length > 0)}>
          <Link2 aria-hidden className="size-4" />
          Copy link to this form
        </Button>
        <Button type="submit" look="primary" isBusy={isBusy}>
          Create application
        </Button>
      </ApplicationForm>
      <div className="space-y-5 xl:sticky xl:top-20 xl:max-h-[calc(100dvh-6rem)] xl:overflow-y-auto">
        <DraftPreview tenantId={tenantId} type={type} draft={draft} />
        <CodeBlock
          title="The same by the API"
          text={curlLine({ method: 'POST', path: '/applications', body: bodyOfDraft(type, draft) })}
        />
      </div>
    </div>
  );
}

async function copyLink(link: string, hasRules: boolean): Promise<void> {
  await navigator.clipboard.writeText(link);
  const text = hasRules ? 'The link is copied. Rules are not part of it.' : 'The link is copied.';
  announce({ id: 'form-link', tone: 'ok', text });
}

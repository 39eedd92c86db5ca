import { useMutation } from '@tanstack/react-query';
import { Eye } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../api/call.js';
import { ApiFault } from '../../api/fault.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Field } from '../../ui/field.js';
import { FormFault, faultOfField } from '../../ui/form.js';
import { Select } from '../../ui/select.js';
import { TextArea } from '../../ui/text-area.js';
import type { PreviewContent } from './preview-input.js';
import { FIRST_PREVIEW, headersOf, PREVIEW_METHODS, previewInput } from './preview-input.js';
import { PreviewResult } from './preview-result.js';

export interface PreviewProps {
  /** One that is stored, or where one that is not would send to. */
  readonly of: { readonly id: string } | { readonly destinationUrl: string };
}

/** Shows what would be sent, without sending it. */
export function Preview({ of }: PreviewProps) {
  const { id: tenantId } = useTenant();
  const [content, setContent] = useState(FIRST_PREVIEW);
  const preview = useMutation({
    mutationFn: (given: PreviewContent) =>
      'id' in of
        ? call('POST /proxies/{id}/preview', { tenantId, params: { id: of.id }, body: previewInput(given) })
        : call('POST /proxies/preview', {
            tenantId,
            body: { ...previewInput(given), destination_url: of.destinationUrl },
          }),
  });
  return (
    <Card
      title="Preview"
      lead="The request as it would leave, before the code for requests. Nothing is sent, and tokens stay as they are written."
    >
      <div className="space-y-4">
        <PreviewFields
          content={content}
          onChange={(parts) => setContent((before) => ({ ...before, ...parts }))}
          error={preview.error}
        />
        <FormFault
          error={preview.error}
          fields={[
            'path',
            'method',
            'body',
            'headers',
            ...('id' in of ? [] : ['destination_url']),
            ...headerPaths(preview.error),
          ]}
        />
        {!('id' in of) && faultOfField(preview.error, 'destination_url') && (
          <p className="text-[13px] text-danger">Destination {faultOfField(preview.error, 'destination_url')}</p>
        )}
        <Button
          look="primary"
          isBusy={preview.isPending}
          disabled={headersOf(content.headers).fault !== undefined}
          onClick={() => preview.mutate(content)}
        >
          {!preview.isPending && <Eye aria-hidden className="size-4" />}
          Show what would be sent
        </Button>
        {preview.data && !preview.isPending && <PreviewResult preview={preview.data} />}
      </div>
    </Card>
  );
}

function headerPaths(error: unknown): readonly string[] {
  return error instanceof ApiFault ? Object.keys(error.errors).filter((path) => /^headers\b/.test(path)) : [];
}

interface PreviewFieldsProps {
  readonly content: PreviewContent;
  readonly onChange: (parts: Partial<PreviewContent>) => void;
  readonly error: unknown;
}

function PreviewFields({ content, onChange, error }: PreviewFieldsProps) {
  const { fault } = headersOf(content.headers);
  const wrongHeaders = headerPaths(error)
    .map((path) => `${path} ${faultOfField(error, path)}`)
    .join('; ');
  return (
    <>
      <div className="grid grid-cols-[7.5rem_minmax(0,1fr)] gap-3">
        <Select
          label="Method"
          value={content.method}
          onChange={(event) =>
            onChange({ method: PREVIEW_METHODS.find((method) => method === event.target.value) ?? 'POST' })
          }
          options={PREVIEW_METHODS.map((method) => ({ value: method, text: method }))}
        />
        <Field
          label="Path and query"
          value={content.path}
          onChange={(event) => onChange({ path: event.target.value })}
          error={faultOfField(error, 'path')}
          autoComplete="off"
          spellCheck={false}
        />
      </div>
      <TextArea
        isCode
        rows={3}
        label="Headers"
        value={content.headers}
        onChange={(event) => onChange({ headers: event.target.value })}
        error={fault ?? (wrongHeaders || undefined)}
      />
      <TextArea
        isCode
        rows={5}
        label="Body"
        value={content.body}
        onChange={(event) => onChange({ body: event.target.value })}
        error={faultOfField(error, 'body')}
      />
    </>
  );
}

import type { ProxyPreviewInput } from '../../api/generated.js';

export const PREVIEW_METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;

export interface PreviewContent {
  readonly method: (typeof PREVIEW_METHODS)[number];
  readonly path: string;
  /** A line for each, as `Name: value`. */
  readonly headers: string;
  readonly body: string;
}

export const FIRST_PREVIEW: PreviewContent = {
  method: 'POST',
  path: '/charges',
  headers: 'Content-Type: application/json',
  body: '{"number":"{{ token_id }}","cents":1999}',
};

/** The headers by name, or the line that is none. */
export function headersOf(text: string): {
  readonly headers: Readonly<Record<string, string[]>>;
  readonly fault?: string;
} {
  const headers = new Map<string, string[]>();
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const at = line.indexOf(':');
    const name = line.slice(0, Math.max(0, at)).trim();
    if (name === '') return { headers: {}, fault: `is written as Name: value, which this line is not: ${line}` };
    headers.set(name, [...(headers.get(name) ?? []), line.slice(at + 1).trim()]);
  }
  return { headers: Object.fromEntries(headers) };
}

export function previewInput({ method, path, headers, body }: PreviewContent): ProxyPreviewInput {
  return { method, path, headers: headersOf(headers).headers, ...(body !== '' && { body }) };
}

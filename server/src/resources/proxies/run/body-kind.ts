/** How a body is looked at for expressions: as JSON, as text of this kind, or not at all. */
export type BodyKind = 'json' | 'form' | 'text' | 'other';

const JSON_TYPE = /^application\/json$|\+json$/;
const TEXT_TYPE = /^text\/|^application\/(xml|javascript|x-ndjson|ndjson|graphql|yaml)$|\+xml$/;
const FORM_TYPE = 'application/x-www-form-urlencoded';
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i;

/** By what is said of it. Text in another encoding, or compressed, is left as it is. */
export function bodyKindOf(contentType: string | undefined, contentEncoding: string | undefined): BodyKind {
  const [type = ''] = (contentType ?? '').split(';');
  const name = type.trim().toLowerCase();
  const [, charset = 'utf-8'] = CHARSET.exec(contentType ?? '') ?? [];
  const isPlain = (contentEncoding ?? 'identity').trim().toLowerCase() === 'identity';
  if (!isPlain || !/^(utf-?8|us-ascii)$/i.test(charset)) return 'other';
  if (JSON_TYPE.test(name)) return 'json';
  if (name === FORM_TYPE) return 'form';
  return TEXT_TYPE.test(name) ? 'text' : 'other';
}

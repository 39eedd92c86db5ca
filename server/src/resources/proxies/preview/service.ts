import { holds } from '../../../access/decide.js';
import type { Principal } from '../../../access/principal.js';
import type { AuditContext } from '../../../audit/entry.js';
import { validationFailed } from '../../../kernel/errors.js';
import type { Json } from '../../../kernel/json.js';
import type { HeaderPairs } from '../../../outbound/message-headers.js';
import { headerValue } from '../../../outbound/message-headers.js';
import type { Database } from '../../../storage/database.js';
import type { PreviewedToken, Vault } from '../../../vault/index.js';
import { findExpressions } from '../../../vault/index.js';
import { definitionIdOf, noSuchDefinition } from '../../definitions/store.js';
import type { ProxyStore } from '../definition/store.js';
import { readAskedProxy } from '../run/asked.js';
import type { BodyKind } from '../run/body-kind.js';
import { bodyKindOf } from '../run/body-kind.js';
import { destinationUrl } from '../run/destination.js';
import type { PreviewInput } from './input.js';
import { readEphemeralPreview, readStoredPreview } from './input.js';
import { shownHeaders } from './shown-headers.js';
import { showRequest } from './shown-request.js';

export interface ProxyPreviewOptions {
  readonly database: Database;
  readonly vault: Pick<Vault, 'preview'>;
  readonly headerPrefixes: readonly string[];
}

/** What would be sent. */
export interface ShownPreview {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly tokens?: readonly PreviewedToken[];
}

/**
 * Shows a request as a Proxy would send it before its code runs. Nothing is sent and no name is looked up. The rights are the
 * caller's own, also where a call would use those of the Proxy's Application: a caller is shown no mask it has no right to.
 */
export interface ProxyPreviews {
  stored(caller: Principal, auditContext: AuditContext, id: string | undefined, body: unknown): Promise<ShownPreview>;
  ephemeral(caller: Principal, auditContext: AuditContext, body: unknown): Promise<ShownPreview>;
}

const JSON_TYPE = ['Content-Type', 'application/json'] as const;

export function createProxyPreviews(options: ProxyPreviewOptions, store: ProxyStore): ProxyPreviews {
  return {
    async stored(caller, auditContext, given, body) {
      const input = readStoredPreview(body);
      const id = definitionIdOf(store.kind, given);
      const row = await options.database.read(caller.tenantId, (tx) => store.kind.rows.find(tx, id));
      if (!row) throw noSuchDefinition(store.kind);
      const { content } = store.open(await store.keysFor(caller.tenantId, [row]), row);
      return shown(options, caller, auditContext, content.destinationUrl, input);
    },
    async ephemeral(caller, auditContext, body) {
      const input = readEphemeralPreview(body);
      return shown(options, caller, auditContext, input.baseUrl, input);
    },
  };
}

async function shown(
  { vault, headerPrefixes }: ProxyPreviewOptions,
  caller: Principal,
  auditContext: AuditContext,
  baseUrl: string,
  input: PreviewInput,
): Promise<ShownPreview> {
  const { method, path, body } = input;
  const sent = { method, path, rawQuery: input.query, rawHeaders: input.headers.flat() };
  const asked = readAskedProxy(sent, headerPrefixes);
  const { headers, kind } = withKind(asked.headers, body);
  const given = { query: asked.query, headers, body };
  const shownFrom = (parts: typeof given) => ({
    method,
    url: destinationUrl(baseUrl, path, parts.query),
    headers: shownHeaders(parts.headers, asked.connectionHeaders, method),
    ...(parts.body !== undefined && { body: parts.body }),
  });
  // What cannot be sent as it was written is refused before a token is looked at.
  const asWritten = shownFrom(given);
  if (!holds(caller, 'token:use')) return asWritten;
  const { tokens, ...parts } = await showRequest((wanted) => vault.preview(caller, auditContext, wanted), given, kind);
  return { ...shownFrom(parts), tokens };
}

/** How a body is looked at. A value is JSON, and where nothing is said of it, that is what its sender would say. */
function withKind(
  headers: HeaderPairs,
  body: Json | undefined,
): { readonly headers: HeaderPairs; readonly kind: BodyKind } {
  const contentType = headerValue(headers, 'content-type');
  const isValue = body !== undefined && typeof body !== 'string';
  const said = contentType === undefined && isValue ? [...headers, JSON_TYPE] : headers;
  const kind = bodyKindOf(headerValue(said, 'content-type'), headerValue(said, 'content-encoding'));
  if (isValue && kind !== 'json') {
    throw validationFailed({ body: ['must be a string, unless its headers say that it is plain JSON'] });
  }
  // A number that cannot be kept would be shown as another one.
  if (isValue) findExpressions({ body });
  return { headers: said, kind };
}

import type { Static } from 'typebox';
import Type from 'typebox';
import { CursorQuery, cursorListOf } from '../../http/paging/pages.js';
import { DateTime, named, text, Uuid } from '../../http/routes/schema.js';
import { TOKEN_TYPES } from '../../vault/index.js';

/** What a person sees of a token. What is not declared here has no way out: no data, mask, fingerprint or search index. */
export const PortalToken = named('PortalToken', {
  id: Type.String(),
  tenant_id: Uuid,
  type: Type.Enum([...TOKEN_TYPES]),
  containers: Type.Array(Type.String()),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  created_by: Type.Optional(Uuid),
  created_at: DateTime,
  modified_by: Type.Optional(Uuid),
  modified_at: Type.Optional(DateTime),
  expires_at: Type.Optional(DateTime),
});

export const PortalTokenList = cursorListOf('PortalTokenList', PortalToken);

export const PortalTokenSearch = Type.Object(
  {
    query: Type.Optional(
      text({
        description: 'Terms on id, type, container and metadata.<key>, as in POST /v2/tokens/search; all without it',
      }),
    ),
    ...CursorQuery,
  },
  { title: 'PortalTokenSearch' },
);

export type PortalTokenSearch = Static<typeof PortalTokenSearch>;

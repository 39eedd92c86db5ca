import Type from 'typebox';
import { named, orNull } from '../../../http/routes/schema.js';
import { PROXY_URL_LENGTH_MAX } from '../run/destination.js';

export const PREVIEW_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** What can stand behind `/proxy`: nothing, a path, a query. No control characters, and no fragment, which is never sent. */
export const PREVIEW_PATH_PATTERN = '^([/?][^\\u0000-\\u001f\\u007f#]*)?$';
export const HEADER_NAME_PATTERN = '^[0-9A-Za-z_-]+$';

const REQUEST = {
  method: Type.Enum([...PREVIEW_METHODS]),
  path: Type.Optional(
    orNull(
      Type.String({
        pattern: PREVIEW_PATH_PATTERN,
        maxLength: PROXY_URL_LENGTH_MAX,
        description: 'What would stand behind `/proxy`, with its query',
      }),
    ),
  ),
  headers: Type.Optional(
    orNull(
      Type.Unsafe({
        type: 'object',
        description: 'Values by name; a list for a header that is sent more than once',
        propertyNames: { pattern: HEADER_NAME_PATTERN },
        additionalProperties: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      }),
    ),
  ),
  body: Type.Optional(
    Type.Unsafe({
      description: 'A string is the text of the body, of the kind its Content-Type says; any other value is JSON',
    }),
  ),
};

/** For the API document; `preview/input.ts` reads the bodies. */
export const StoredPreviewDocument = Type.Object(REQUEST, { title: 'ProxyPreviewInput' });

export const EphemeralPreviewDocument = Type.Object(
  {
    destination_url: Type.String({
      minLength: 1,
      maxLength: PROXY_URL_LENGTH_MAX,
      description: 'The base address, as `SVC-PROXY-URL` has it in a call',
    }),
    ...REQUEST,
  },
  { title: 'EphemeralProxyPreviewInput' },
);

const ShownToken = named('ProxyPreviewToken', {
  id: Type.String(),
  granted: Type.Boolean({ description: 'Whether you may use it; false too where there is no such token' }),
});

export const ProxyPreviewBody = named('ProxyPreview', {
  method: Type.String(),
  url: Type.String(),
  headers: Type.Record(Type.String({ pattern: HEADER_NAME_PATTERN }), Type.String()),
  body: Type.Optional(Type.Unsafe({ description: 'As it was given: text or JSON; absent where there was none' })),
  tokens: Type.Optional(
    Type.Array(ShownToken, { description: 'Each once, in the order query, headers, body; only with token:use' }),
  ),
});

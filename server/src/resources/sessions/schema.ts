import type { Static } from 'typebox';
import Type from 'typebox';
import { DateTime, ERROR_MESSAGE, named, Uuid } from '../../http/routes/schema.js';
import { ExpiresAtInput, PermissionNames, RuleInputs } from '../applications/index.js';

export const SessionBody = named('Session', {
  id: Uuid,
  session_key: Type.String({ description: 'Shown only here' }),
  nonce: Type.String({ description: 'Hand it to the backend that authorizes the session; works once' }),
  expires_at: DateTime,
});

export const SessionAuthorize = Type.Object(
  {
    nonce: Type.String({
      pattern: '^[0-9A-Za-z]{22}$',
      [ERROR_MESSAGE]: 'must be the nonce of a session, 22 letters and digits',
    }),
    permissions: Type.Optional(PermissionNames),
    rules: Type.Optional(RuleInputs),
    expires_at: Type.Optional(ExpiresAtInput),
  },
  { title: 'SessionAuthorize' },
);

export type SessionBody = Static<typeof SessionBody>;
export type SessionAuthorize = Static<typeof SessionAuthorize>;

import type { Static } from 'typebox';
import Type from 'typebox';
import { DateTime, ERROR_MESSAGE, Name, named, Uuid } from '../../http/routes/schema.js';

const SETTING_MESSAGE = 'must be the string "true" or "false"; send a boolean as a string, in quotes';
const Setting = Type.Enum(['true', 'false'], { [ERROR_MESSAGE]: SETTING_MESSAGE });

export const TenantSettings = named('TenantSettings', { fingerprint_tokens: Setting, deduplicate_tokens: Setting });

export const TenantBody = named('Tenant', {
  id: Uuid,
  owner_id: Uuid,
  name: Type.String(),
  settings: TenantSettings,
  created_by: Type.Optional(Uuid),
  created_at: Type.Optional(DateTime),
  modified_by: Type.Optional(Uuid),
  modified_at: Type.Optional(DateTime),
});

export const TenantUpdate = Type.Object(
  {
    name: Name,
    settings: Type.Optional(
      Type.Object(
        { fingerprint_tokens: Type.Optional(Setting), deduplicate_tokens: Type.Optional(Setting) },
        {
          additionalProperties: false,
          title: 'TenantSettingsUpdate',
          [ERROR_MESSAGE]: 'is not a setting; the settings are fingerprint_tokens and deduplicate_tokens',
        },
      ),
    ),
  },
  { title: 'TenantUpdate' },
);

export type TenantBody = Static<typeof TenantBody>;
export type TenantUpdate = Static<typeof TenantUpdate>;

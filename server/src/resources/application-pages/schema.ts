import type { Static } from 'typebox';
import Type from 'typebox';
import { APPLICATION_TYPES } from '../../access/permissions.js';
import { TRANSFORMS } from '../../access/rules.js';
import { OffsetQuery, offsetListOf } from '../../http/paging/pages.js';
import { DateTime, named, text, Uuid } from '../../http/routes/schema.js';
import { ApplicationTypeName, PermissionNames, RuleBody, RuleInputs } from '../applications/index.js';

export const CONTAINERS_GIVEN_MAX = 50;

export const PortalApplication = named('PortalApplication', {
  id: Uuid,
  name: Type.String(),
  type: Type.Enum([...APPLICATION_TYPES]),
  permissions: Type.Array(Type.String()),
  rules: Type.Array(RuleBody),
  created_by: Type.Optional(Uuid),
  created_at: DateTime,
  modified_by: Type.Optional(Uuid),
  modified_at: Type.Optional(DateTime),
  expires_at: Type.Optional(DateTime),
  key_count: Type.Integer({ description: 'Keys that work' }),
  last_used_at: Type.Optional(
    Type.String({ format: 'date-time', description: 'The hour of the last use of any of its keys' }),
  ),
  next_end_at: Type.Optional(
    Type.String({ format: 'date-time', description: 'When the first of its keys ends, or the Application itself' }),
  ),
});

export const PortalApplicationList = offsetListOf('PortalApplicationList', PortalApplication);

export const PortalApplicationsQuery = Type.Object({
  type: Type.Optional(Type.Array(ApplicationTypeName, { description: 'Only of these types; may be repeated' })),
  ...OffsetQuery,
});

export const AccessPreviewInput = Type.Object(
  {
    type: ApplicationTypeName,
    permissions: Type.Optional(PermissionNames),
    rules: Type.Optional(RuleInputs),
    containers: Type.Optional(
      Type.Array(text({ maxLength: 200 }), {
        maxItems: CONTAINERS_GIVEN_MAX,
        description: 'Looked at besides those that have tokens',
      }),
    ),
  },
  { title: 'PortalAccessPreviewInput' },
);

const PreviewedOperation = named('PortalPreviewedOperation', {
  permission: Type.String({ examples: ['token:read'] }),
  is_granted: Type.Boolean(),
  transform: Type.Optional(Type.Enum([...TRANSFORMS], { description: 'Where it is granted' })),
  rule_priority: Type.Optional(
    Type.Integer({
      description: 'Of the rule that decided; without it the plain permission did, or nothing grants it',
    }),
  ),
});

const PreviewedContainer = named('PortalPreviewedContainer', {
  container: Type.String({ examples: ['/pci/high/'] }),
  has_tokens: Type.Boolean(),
  sees: Type.Enum([...TRANSFORMS, 'nothing'], { description: 'What reading a token there shows' }),
  operations: Type.Array(PreviewedOperation),
});

export const AccessPreview = named('PortalAccessPreview', {
  containers: Type.Array(PreviewedContainer),
  has_more: Type.Boolean({ description: 'There are more containers with tokens than are looked at' }),
});

export type PortalApplicationList = Static<typeof PortalApplicationList>;
export type PortalApplicationsQuery = Static<typeof PortalApplicationsQuery>;
export type AccessPreviewInput = Static<typeof AccessPreviewInput>;
export type AccessPreview = Static<typeof AccessPreview>;
export type PreviewedContainer = Static<typeof PreviewedContainer>;
export type PreviewedOperation = Static<typeof PreviewedOperation>;

import type { Static } from 'typebox';
import Type from 'typebox';
import { APPLICATION_TYPES } from '../../access/permissions.js';
import { CONDITION_ATTRIBUTES, CONDITION_OPERATORS, TRANSFORMS } from '../../access/rules.js';
import { DateTime, ERROR_MESSAGE, listSchema, Name, named, text, Uuid } from '../../http/routes/schema.js';

const RULES_MAX = 100;
const CONDITIONS_MAX = 20;
const NAMES_MAX = 100;

export const ApplicationTypeName = Type.Enum([...APPLICATION_TYPES], {
  [ERROR_MESSAGE]: `must be one of ${APPLICATION_TYPES.join(', ')}`,
});

export const RuleConditionBody = named('AccessRuleCondition', {
  attribute: Type.Enum([...CONDITION_ATTRIBUTES]),
  operator: Type.Enum([...CONDITION_OPERATORS]),
  value: text({ minLength: 1, maxLength: 400 }),
});

export const RuleBody = named('AccessRule', {
  description: Type.Optional(Type.String()),
  priority: Type.Integer({ description: 'The lowest is tried first' }),
  container: Type.Optional(Type.String({ examples: ['/pci/'] })),
  conditions: Type.Optional(Type.Array(RuleConditionBody)),
  transform: Type.Enum([...TRANSFORMS]),
  permissions: Type.Array(Type.String()),
});

/** Names of permissions; which ones are allowed depends on who is to hold them. */
export const PermissionNames = Type.Array(text({ maxLength: 100 }), {
  maxItems: NAMES_MAX,
  description: 'Names from GET /permissions',
  [ERROR_MESSAGE]: `must be a list of at most ${NAMES_MAX} permissions`,
});

export const RuleInput = Type.Object(
  {
    description: Type.Optional(text({ maxLength: 200 })),
    priority: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Unique; the lowest is tried first',
    }),
    container: Type.Optional(text({ description: 'Covers itself and all below', examples: ['/pci/'] })),
    conditions: Type.Optional(
      Type.Array(RuleConditionBody, {
        maxItems: CONDITIONS_MAX,
        description: 'Sessions only, instead of a container; all must hold',
        [ERROR_MESSAGE]: `must be a list of at most ${CONDITIONS_MAX} conditions`,
      }),
    ),
    transform: Type.Optional(Type.Enum([...TRANSFORMS], { default: 'mask' })),
    permissions: PermissionNames,
  },
  { title: 'AccessRuleInput' },
);

export const RuleInputs = Type.Array(RuleInput, {
  maxItems: RULES_MAX,
  [ERROR_MESSAGE]: `must be a list of at most ${RULES_MAX} rules`,
});

export const ExpiresAtInput = text({
  maxLength: 64,
  description: 'A date in the future, ISO 8601 or M/D/YYYY',
  examples: ['2030-01-01T00:00:00Z'],
});

const APPLICATION = {
  id: Uuid,
  tenant_id: Uuid,
  name: Type.String(),
  type: Type.Enum([...APPLICATION_TYPES]),
  permissions: Type.Array(Type.String()),
  rules: Type.Array(RuleBody),
  expires_at: Type.Optional(DateTime),
  created_by: Type.Optional(Uuid),
  created_at: DateTime,
  modified_by: Type.Optional(Uuid),
  modified_at: Type.Optional(DateTime),
};

const KEY = { id: Uuid, created_by: Type.Optional(Uuid), created_at: DateTime };

export const ApplicationKeyName = named('ApplicationKeyName', KEY);

export const ShownApplication = named('Application', {
  ...APPLICATION,
  keys: Type.Array(ApplicationKeyName, { description: 'The keys that work, newest first, never the key itself' }),
});

export const ApplicationWithKeyBody = named('ApplicationWithKey', {
  ...APPLICATION,
  key: Type.Optional(Type.String({ description: 'Shown only here' })),
});

export const ApplicationCreate = Type.Object(
  {
    name: Name,
    type: ApplicationTypeName,
    permissions: Type.Optional(PermissionNames),
    rules: Type.Optional(RuleInputs),
    expires_at: Type.Optional(ExpiresAtInput),
    create_key: Type.Optional(Type.Boolean({ default: true, description: 'False: no key yet' })),
  },
  { title: 'ApplicationCreate' },
);

export const ApplicationUpdate = Type.Object(
  {
    name: Name,
    type: Type.Optional(ApplicationTypeName),
    permissions: Type.Optional(PermissionNames),
    rules: Type.Optional(RuleInputs),
    expires_at: Type.Optional(ExpiresAtInput),
  },
  { title: 'ApplicationUpdate' },
);

export const ApplicationsQuery = Type.Object({
  id: Type.Optional(Type.Array(text({ maxLength: 200 }), { description: 'Only these; may be repeated' })),
  type: Type.Optional(Type.Array(ApplicationTypeName, { description: 'Only of these types; may be repeated' })),
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, default: 1, description: 'Number of the page' }),
  ),
  size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items on a page' })),
});

export const Pagination = named('Pagination', {
  total_items: Type.Integer(),
  page_number: Type.Integer(),
  page_size: Type.Integer(),
  total_pages: Type.Integer(),
});

export const ApplicationList = listSchema('ApplicationList', Pagination, ShownApplication);

export const ApplicationRegenerate = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 604_800, default: 0, description: 'How long earlier keys still work' }),
    ),
  },
  { title: 'ApplicationRegenerate' },
);

export const ApplicationKeysQuery = Type.Object({
  id: Type.Optional(Type.Array(text({ maxLength: 200 }), { description: 'Only these; may be repeated' })),
});

export const ApplicationKeyBody = named('ApplicationKey', {
  ...KEY,
  expires_at: Type.Optional(Type.String({ format: 'date-time', description: 'Only while it is being replaced' })),
  last_used_at: Type.Optional(
    Type.String({ format: 'date-time', description: 'The hour of its last use; absent before the first' }),
  ),
});

export const NewApplicationKeyBody = named('IssuedApplicationKey', {
  ...KEY,
  key: Type.String({ description: 'Shown only here' }),
});

export type ShownApplication = Static<typeof ShownApplication>;
export type ApplicationBody = Omit<ShownApplication, 'keys'>;
export type ApplicationWithKeyBody = Static<typeof ApplicationWithKeyBody>;
export type ApplicationCreate = Static<typeof ApplicationCreate>;
export type ApplicationUpdate = Static<typeof ApplicationUpdate>;
export type ApplicationsQuery = Static<typeof ApplicationsQuery>;
export type ApplicationList = Static<typeof ApplicationList>;
export type ApplicationRegenerate = Static<typeof ApplicationRegenerate>;
export type ApplicationKeyName = Static<typeof ApplicationKeyName>;
export type ApplicationKeysQuery = Static<typeof ApplicationKeysQuery>;
export type ApplicationKeyBody = Static<typeof ApplicationKeyBody>;
export type NewApplicationKeyBody = Static<typeof NewApplicationKeyBody>;

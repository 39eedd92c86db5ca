import Type from 'typebox';
import { APPLICATION_TYPES } from '../../access/permissions.js';
import { ERROR_MESSAGE, named } from '../../http/routes/schema.js';

export const PermissionBody = named('Permission', {
  type: Type.String({ description: 'Name, `<resource>:<action>` or `<resource>:<sub-resource>:<action>`' }),
  description: Type.String(),
  application_types: Type.Array(Type.Enum([...APPLICATION_TYPES]), {
    description: 'Application types that may be assigned the permission',
  }),
});

export const PermissionsQuery = Type.Object({
  application_type: Type.Optional(
    Type.Enum([...APPLICATION_TYPES], {
      description: 'Only permissions this type may hold',
      [ERROR_MESSAGE]: `must be one of ${APPLICATION_TYPES.join(', ')}`,
    }),
  ),
});

import type { Static } from 'typebox';
import Type from 'typebox';
import { APPLICATION_TYPES } from '../../access/permissions.js';
import { named, Uuid } from '../../http/routes/schema.js';
import { RuleBody } from '../applications/index.js';

export const TEMPLATE_TYPES = ['starters', 'payments', 'banking', 'pii', 'management'] as const;

export const ApplicationTemplateBody = named('ApplicationTemplate', {
  id: Uuid,
  name: Type.String(),
  description: Type.String(),
  application_type: Type.Enum([...APPLICATION_TYPES]),
  template_type: Type.Enum([...TEMPLATE_TYPES]),
  is_starter: Type.Boolean(),
  rules: Type.Array(RuleBody),
  permissions: Type.Array(Type.String()),
});

export type ApplicationTemplateBody = Static<typeof ApplicationTemplateBody>;

import Type from 'typebox';
import type { RouteRecord } from '../../http/routes/route.js';
import { defineRoute, Rendered } from '../../http/routes/route.js';
import { AppError } from '../../kernel/errors.js';
import { ApplicationTemplateBody } from './schema.js';
import { APPLICATION_TEMPLATES } from './service.js';

/** The templates never change while the process runs, so they are serialised once. */
export function applicationTemplateRoutes(): RouteRecord[] {
  const base = {
    method: 'GET',
    permission: 'any key',
    admits: ['application', 'session', 'user'],
    limits: [],
    tag: 'Application templates',
    status: 200,
  } as const;
  const all = new Rendered(APPLICATION_TEMPLATES);
  const byId = new Map(APPLICATION_TEMPLATES.map((template) => [template.id, new Rendered(template)]));
  return [
    defineRoute({
      ...base,
      path: '/application-templates',
      summary: 'List Application templates',
      description: 'Starting points: copy permissions and rules from one into a new Application.',
      response: Type.Array(ApplicationTemplateBody),
      handle: () => all,
    }),
    defineRoute({
      ...base,
      path: '/application-templates/:id',
      summary: 'Get an Application template',
      description: 'One starting point. Ids never change.',
      example: { after: 'GET /application-templates', params: { id: '$response.body#/0/id' } },
      response: ApplicationTemplateBody,
      handle: ({ params }) => {
        const found = byId.get((params.id ?? '').toLowerCase());
        if (!found)
          throw new AppError('not_found', 'There is no such template. GET /application-templates lists them.');
        return found;
      },
    }),
  ];
}

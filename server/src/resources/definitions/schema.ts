import type { Static } from 'typebox';
import Type from 'typebox';
import { OffsetQuery } from '../../http/paging/pages.js';
import { DateTime, named, orNull, text, Uuid } from '../../http/routes/schema.js';

export const CODE_LENGTH_MAX = 50_000;
export const ENTRIES_MAX = 25;
export const NAME_LENGTH_MAX = 200;
export const SETTING_LENGTH_MAX = 50_000;
export const KEY_PATTERN = '^[A-Za-z0-9_-]{1,200}$';

/** Fields that every answer shows. */
export const SHOWN_CONFIGURATION = Type.Record(Type.String({ pattern: KEY_PATTERN }), Type.String());
export const STATE = Type.Enum(['active']);
export const MADE_BY = {
  created_by: Type.Optional(Uuid),
  created_at: DateTime,
};
export const CHANGED_BY = {
  ...MADE_BY,
  modified_by: Type.Optional(Uuid),
  modified_at: Type.Optional(DateTime),
};

export const Code = Type.String({
  minLength: 1,
  maxLength: CODE_LENGTH_MAX,
  description: 'Compiled when it is invoked',
});
const Value = Type.String({ minLength: 1, maxLength: SETTING_LENGTH_MAX });

export function configurationOf(description: string) {
  return Type.Unsafe({
    type: 'object',
    description,
    propertyNames: { pattern: KEY_PATTERN },
    additionalProperties: orNull(Value),
  });
}

export const NamedById = Type.Object(
  { id: Uuid },
  { description: 'A public or private Application: the code acts as it' },
);

export const DefinitionsQuery = Type.Object({
  id: Type.Optional(Type.Array(text({ maxLength: 200 }), { description: 'Only these; may be repeated' })),
  name: Type.Optional(text({ maxLength: 200, description: 'Only with this name; `*` stands for any text' })),
  ...OffsetQuery,
});

/** The figures of a kind, whose failures have these classes. */
export function figureSchemas(title: string, failures: readonly string[]) {
  const FIGURES = {
    calls: Type.Integer(),
    errors: Type.Record(Type.String(), Type.Integer(), {
      description: `Calls that failed, by class: ${failures.map((name) => `\`${name}\``).join(', ')}`,
    }),
    cold_starts: Type.Integer({ description: 'Calls whose code had to be loaded first' }),
    p50_ms: Type.Optional(Type.Number({ description: 'Half of the runs took at most this long; within 19%' })),
    p99_ms: Type.Optional(Type.Number({ description: 'The same for 99% of the runs' })),
  };
  return named(`${title}Metrics`, {
    total: named(`${title}Figures`, FIGURES),
    days: Type.Array(named(`${title}Day`, { date: Type.String({ description: 'UTC' }), ...FIGURES }), {
      description: 'Today and the 29 days before, newest first',
    }),
  });
}

export type DefinitionsQuery = Static<typeof DefinitionsQuery>;
export type MetricsBody = Static<ReturnType<typeof figureSchemas>>;

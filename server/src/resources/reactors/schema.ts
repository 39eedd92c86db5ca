import type { Static } from 'typebox';
import Type from 'typebox';
import { OffsetQuery, offsetListOf } from '../../http/paging/pages.js';
import { DateTime, Name, named, orNull, text, Uuid } from '../../http/routes/schema.js';

export const CODE_LENGTH_MAX = 50_000;
export const ENTRIES_MAX = 25;
export const NAME_LENGTH_MAX = 200;
export const SETTING_LENGTH_MAX = 50_000;
export const CALLBACK_URL_LENGTH_MAX = 2_000;
export const TIMEOUT_MS = { min: 10_000, max: 210_000, default: 30_000 };
export const KEY_PATTERN = '^[A-Za-z0-9_-]{1,200}$';

export const ReactorApplication = named('ReactorApplication', {
  id: Uuid,
  name: Type.String(),
  type: Type.Enum(['public', 'private']),
});

const REACTOR = {
  id: Uuid,
  tenant_id: Uuid,
  name: Type.String(),
  code: Type.String(),
  configuration: Type.Record(Type.String({ pattern: KEY_PATTERN }), Type.String()),
  application: Type.Optional(ReactorApplication),
  state: Type.Enum(['active']),
  created_by: Type.Optional(Uuid),
  created_at: DateTime,
  modified_by: Type.Optional(Uuid),
  modified_at: Type.Optional(DateTime),
};

export const ReactorBody = named('Reactor', REACTOR);

export const ReactorWithSecretBody = named('ReactorWithSecret', {
  ...REACTOR,
  callback_secret: Type.String({ description: 'What its callbacks are signed with. Shown only here' }),
});

export const ReactorVersionBody = named('ReactorVersion', {
  version: Type.Integer(),
  created_by: Type.Optional(Uuid),
  created_at: DateTime,
  code: Type.String(),
});

export const ReactorVersions = Type.Array(ReactorVersionBody);

const Code = Type.String({ minLength: 1, maxLength: CODE_LENGTH_MAX, description: 'Compiled when it is invoked' });
const Value = Type.String({ minLength: 1, maxLength: SETTING_LENGTH_MAX });
const configurationOf = (description: string) =>
  Type.Unsafe({
    type: 'object',
    description,
    propertyNames: { pattern: KEY_PATTERN },
    additionalProperties: orNull(Value),
  });
const NamedById = Type.Object({ id: Uuid }, { description: 'A public or private Application: the code acts as it' });

/** For the API document; `definition/input.ts` reads the bodies. */
export const ReactorDocument = Type.Object(
  {
    name: Name,
    code: Code,
    configuration: Type.Optional(orNull(configurationOf(`At most ${ENTRIES_MAX} entries`))),
    application: Type.Optional(orNull(NamedById)),
  },
  { title: 'ReactorInput' },
);

export const ReactorPatchDocument = Type.Object(
  {
    name: Type.Optional(Name),
    code: Type.Optional(Code),
    configuration: Type.Optional(orNull(configurationOf('Merged; null removes an entry, or all'))),
    application: Type.Optional(orNull(NamedById)),
  },
  { title: 'ReactorPatch' },
);

const ANY = 'Any JSON';
const Args = Type.Optional(Type.Unsafe({ description: 'Any JSON; its strings may hold expressions on tokens' }));

/** For the API document; `run/input.ts` reads the bodies. */
export const ReactDocument = Type.Object(
  {
    args: Args,
    callback_url: Type.Optional(
      orNull(Type.String({ maxLength: CALLBACK_URL_LENGTH_MAX, description: 'https: the result is sent there' })),
    ),
    timeout_ms: Type.Optional(
      orNull(
        Type.Integer({
          minimum: TIMEOUT_MS.min,
          maximum: TIMEOUT_MS.max,
          default: TIMEOUT_MS.default,
          description: 'Of calls whose result is sent or fetched later',
        }),
      ),
    ),
  },
  { title: 'ReactInput' },
);

export const ReactBody = named('ReactAnswer', {
  tokens: Type.Optional(Type.Unsafe({ description: 'What the code gave as `tokenize`, tokenized' })),
  raw: Type.Optional(Type.Unsafe({ description: 'What the code gave as `raw`' })),
});

const TRIAL = {
  configuration: Type.Optional(orNull(configurationOf(`At most ${ENTRIES_MAX} entries`))),
  args: Type.Optional(Type.Unsafe({ description: `${ANY}, without expressions` })),
};

export const TrialDocument = Type.Object(
  {
    code: Type.Optional(orNull(Code)),
    ...TRIAL,
  },
  { title: 'ReactorTestInput' },
);

export const CodeTrialDocument = Type.Object({ code: Code, ...TRIAL }, { title: 'CodeTestInput' });

export const TrialBody = named('ReactorTest', {
  raw: Type.Optional(Type.Unsafe({ description: ANY })),
  tokenize: Type.Optional(Type.Unsafe({ description: `${ANY}; nothing was tokenized` })),
  console: Type.Array(Type.Object({ level: Type.String(), text: Type.String() }), {
    description: 'What the code printed, 64 KiB at most',
  }),
  duration_ms: Type.Integer(),
});

export const ReactorsQuery = Type.Object({
  id: Type.Optional(Type.Array(text({ maxLength: 200 }), { description: 'Only these; may be repeated' })),
  name: Type.Optional(text({ maxLength: 200, description: 'Only with this name; `*` stands for any text' })),
  ...OffsetQuery,
});

export const ReactorList = offsetListOf('ReactorList', ReactorBody);

export type ReactorBody = Static<typeof ReactorBody>;
export type ReactorWithSecretBody = Static<typeof ReactorWithSecretBody>;
export type ReactorVersionBody = Static<typeof ReactorVersionBody>;
export type ReactorsQuery = Static<typeof ReactorsQuery>;
export type ReactorList = Static<typeof ReactorList>;

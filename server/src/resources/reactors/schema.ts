import type { Static } from 'typebox';
import Type from 'typebox';
import { offsetListOf } from '../../http/paging/pages.js';
import { Name, named, orNull, Uuid } from '../../http/routes/schema.js';
import {
  CHANGED_BY,
  Code,
  configurationOf,
  ENTRIES_MAX,
  figureSchemas,
  MADE_BY,
  NamedById,
  SHOWN_CONFIGURATION,
  STATE,
} from '../definitions/schema.js';
import { FAILURE_CLASSES } from './run/failure-class.js';

export const CALLBACK_URL_LENGTH_MAX = 2_000;
export const TIMEOUT_MS = { min: 10_000, max: 210_000, default: 30_000 };

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
  configuration: SHOWN_CONFIGURATION,
  application: Type.Optional(ReactorApplication),
  state: STATE,
  ...CHANGED_BY,
};

export const ReactorBody = named('Reactor', REACTOR);

export const ReactorWithSecretBody = named('ReactorWithSecret', {
  ...REACTOR,
  callback_secret: Type.String({ description: 'What its callbacks are signed with. Shown only here' }),
});

export const ReactorVersionBody = named('ReactorVersion', {
  version: Type.Integer(),
  ...MADE_BY,
  code: Type.String(),
});

export const ReactorVersions = Type.Array(ReactorVersionBody);

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

export const ReactorMetricsBody = figureSchemas('Reactor', FAILURE_CLASSES);

export const ReactorList = offsetListOf('ReactorList', ReactorBody);

export type ReactorBody = Static<typeof ReactorBody>;
export type ReactorWithSecretBody = Static<typeof ReactorWithSecretBody>;
export type ReactorVersionBody = Static<typeof ReactorVersionBody>;

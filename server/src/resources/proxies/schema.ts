import type { Static } from 'typebox';
import Type from 'typebox';
import { offsetListOf } from '../../http/paging/pages.js';
import { Name, named, orNull, text, Uuid } from '../../http/routes/schema.js';
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
import { PROXY_FAILURE_CLASSES } from './figures/failure-class.js';

export const DESTINATION_LENGTH_MAX = 400;
export const REACTOR_ID_LENGTH_MAX = 200;

const ShownTransform = Type.Optional(named('ProxyTransform', { code: Type.String() }));
const TRANSFORMS = { request_transform: ShownTransform, response_transform: ShownTransform };

export const ProxyBody = named('Proxy', {
  id: Uuid,
  tenant_id: Uuid,
  name: Type.String(),
  key: Type.String({ description: 'Names the Proxy in a call. An address, and no API key' }),
  destination_url: Type.String(),
  ...TRANSFORMS,
  application_id: Type.Optional(Uuid),
  configuration: SHOWN_CONFIGURATION,
  require_auth: Type.Boolean(),
  request_reactor_id: Type.Optional(Type.String({ description: 'As it was sent; it has no effect' })),
  response_reactor_id: Type.Optional(Type.String({ description: 'As it was sent; it has no effect' })),
  state: STATE,
  ...CHANGED_BY,
});

export const ProxyVersionBody = named('ProxyVersion', {
  version: Type.Integer(),
  ...MADE_BY,
  destination_url: Type.String(),
  ...TRANSFORMS,
});

export const ProxyVersions = Type.Array(ProxyVersionBody);

const DestinationUrl = Type.String({
  minLength: 1,
  maxLength: DESTINATION_LENGTH_MAX,
  description: 'Where calls go: the path and query of a call are added to it',
});
const transform = (description: string) =>
  Type.Optional(orNull(Type.Object({ code: Type.Optional(orNull(Code)) }, { description })));
const ReactorId = Type.Optional(
  orNull(text({ maxLength: REACTOR_ID_LENGTH_MAX, description: 'Shown again, without effect' })),
);
const optionalFields = (configuration: string) => ({
  request_transform: transform('Changes a request before it is sent'),
  response_transform: transform('Changes an answer with a status from 200 to 299'),
  application: Type.Optional(orNull(NamedById)),
  application_id: Type.Optional(orNull({ ...Uuid, description: 'The same; `application` counts where both are sent' })),
  configuration: Type.Optional(orNull(configurationOf(configuration))),
  require_auth: Type.Optional(
    orNull(Type.Boolean({ default: true, description: 'Whether a call needs an API key too' })),
  ),
  request_reactor_id: ReactorId,
  response_reactor_id: ReactorId,
});

/** For the API document; `definition/input.ts` reads the bodies. */
export const ProxyDocument = Type.Object(
  { name: Name, destination_url: DestinationUrl, ...optionalFields(`At most ${ENTRIES_MAX} entries`) },
  { title: 'ProxyInput' },
);

export const ProxyPatchDocument = Type.Object(
  {
    name: Type.Optional(Name),
    destination_url: Type.Optional(DestinationUrl),
    ...optionalFields('Merged; null removes an entry, or all'),
  },
  { title: 'ProxyPatch' },
);

export const ProxyMetricsBody = figureSchemas('Proxy', PROXY_FAILURE_CLASSES);

export const ProxyList = offsetListOf('ProxyList', ProxyBody);

export type ProxyBody = Static<typeof ProxyBody>;
export type ProxyVersionBody = Static<typeof ProxyVersionBody>;

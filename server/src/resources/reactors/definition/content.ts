import { openField, resealField, sealField } from '../../../crypto/envelope.js';
import { IntegrityError } from '../../../crypto/integrity-error.js';
import type { TenantKeys } from '../../../crypto/tenant-keys.js';
import { withWiped } from '../../../crypto/wiped.js';
import type { ReactorRow } from '../queries.js';
import type { VersionRow } from '../versions/queries.js';

export type Configuration = Readonly<Record<string, string>>;

/** What a version of a Reactor says. */
export interface ReactorDefinition {
  readonly name: string;
  readonly code: string;
  readonly configuration: Configuration;
  /** Whose rights the code has. It may be gone: then nobody's. */
  readonly applicationId: string | null;
}

/** What is sealed of a Reactor. */
export interface ReactorContent extends ReactorDefinition {
  readonly callbackSecret: string;
}

/** How a definition is written into a record. It lasts for ever: another form is another number. */
interface Stored {
  readonly format: 1;
  readonly name: string;
  readonly code: string;
  readonly configuration: Configuration;
  readonly application_id: string | null;
  readonly callback_secret?: string;
}

type ReactorPlace = Pick<ReactorRow, 'tenant_id' | 'id' | 'version'>;
type VersionPlace = Pick<VersionRow, 'tenant_id' | 'reactor_id' | 'version'>;

export function sealReactor(keys: TenantKeys, place: ReactorPlace, content: ReactorContent): Buffer {
  return withWiped(encoded(content), (bytes) => sealField(keys, reactorContext(place), bytes));
}

/** Opens a Reactor. What stands in the row to be found by has to be what is sealed; IntegrityError otherwise. */
export function openReactor(keys: TenantKeys, row: ReactorRow): ReactorContent {
  const stored = withWiped(openField(keys, reactorContext(row), row.sealed), decoded);
  const { callback_secret: callbackSecret } = stored;
  if (stored.name !== row.name || stored.application_id !== row.application_id || callbackSecret === undefined) {
    throw new IntegrityError('The columns of a Reactor are not what is sealed.');
  }
  return { ...definitionOf(stored), callbackSecret };
}

export function resealReactor(keys: TenantKeys, row: ReactorRow): Buffer {
  openReactor(keys, row);
  return resealField(keys, reactorContext(row), row.sealed);
}

/** The secret stays with the Reactor: a version that comes back must not bring back one that was replaced. */
export function sealVersion(keys: TenantKeys, place: VersionPlace, definition: ReactorDefinition): Buffer {
  return withWiped(encoded(definition), (bytes) => sealField(keys, versionContext(place), bytes));
}

export function openVersion(keys: TenantKeys, row: VersionRow): ReactorDefinition {
  return definitionOf(withWiped(openField(keys, versionContext(row), row.sealed), decoded));
}

export function resealVersion(keys: TenantKeys, row: VersionRow): Buffer {
  return resealField(keys, versionContext(row), row.sealed);
}

/** How many bytes of text a definition has. */
export function sizeOf({ code, configuration }: ReactorDefinition): number {
  return Buffer.byteLength(code) + Buffer.byteLength(JSON.stringify(configuration));
}

function reactorContext({ tenant_id: tenantId, id, version }: ReactorPlace) {
  return { tenantId, kind: 'reactor', entityId: id, field: 'definition', dataVersion: version };
}

function versionContext({ tenant_id: tenantId, reactor_id: id, version }: VersionPlace) {
  const entityId = `${id}:${version}`;
  return { tenantId, kind: 'reactor-version', entityId, field: 'definition', dataVersion: version };
}

function encoded(content: ReactorDefinition & { readonly callbackSecret?: string }): Buffer {
  const { name, code, configuration, applicationId, callbackSecret } = content;
  const stored: Stored = {
    format: 1,
    name,
    code,
    configuration,
    application_id: applicationId,
    ...(callbackSecret !== undefined && { callback_secret: callbackSecret }),
  };
  return Buffer.from(JSON.stringify(stored));
}

function decoded(bytes: Buffer): Stored {
  const stored = JSON.parse(bytes.toString()) as Stored; // It was sealed here, so it has one of the forms there are.
  if (stored.format !== 1) throw new Error('a Reactor was written by a newer release');
  return stored;
}

function definitionOf({ name, code, configuration, application_id: applicationId }: Stored): ReactorDefinition {
  return { name, code, configuration, applicationId };
}

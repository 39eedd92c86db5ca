import { openField, resealField, sealField } from '../../crypto/envelope.js';
import { IntegrityError } from '../../crypto/integrity-error.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { withWiped } from '../../crypto/wiped.js';
import type { ContentOf, DefinitionShape } from './kind.js';
import type { DefinitionRow } from './queries.js';
import type { VersionRow } from './version-queries.js';

/** How what a kind says is written into a record. It lasts for ever: another form is another number in it. */
export interface SealedForm<S extends DefinitionShape> {
  readonly title: string;
  /** Part of what the record is bound to. */
  readonly context: string;
  /** As JSON; a version is written without what is kept beside it. */
  readonly write: (definition: S['definition'], kept: S['kept'] | undefined) => object;
  readonly read: (stored: unknown) => { readonly definition: S['definition']; readonly kept: S['kept'] | undefined };
  /** Whether the further columns of a row are what is sealed. */
  readonly isFitting: (row: S['row'], kept: S['kept']) => boolean;
}

type Place = Pick<DefinitionRow, 'tenant_id' | 'id' | 'version'>;
type VersionPlace = Pick<VersionRow, 'tenant_id' | 'definition_id' | 'version'>;

export interface Sealing<S extends DefinitionShape> {
  seal(keys: TenantKeys, place: Place, definition: S['definition'], kept: S['kept']): Buffer;
  /** What stands in the row to be found by has to be what is sealed; IntegrityError otherwise. */
  open(keys: TenantKeys, row: S['row']): ContentOf<S>;
  reseal(keys: TenantKeys, row: S['row']): Buffer;
  /** What is kept stays with the row: a version that comes back must not bring back a secret that was replaced. */
  sealVersion(keys: TenantKeys, place: VersionPlace, definition: S['definition']): Buffer;
  openVersion(keys: TenantKeys, row: VersionRow): S['definition'];
  resealVersion(keys: TenantKeys, row: VersionRow): Buffer;
}

export function createSealing<S extends DefinitionShape>(form: SealedForm<S>): Sealing<S> {
  const { title, context } = form;
  const contextOf = ({ tenant_id: tenantId, id, version }: Place) => {
    return { tenantId, kind: context, entityId: id, field: 'definition', dataVersion: version };
  };
  const versionContextOf = ({ tenant_id: tenantId, definition_id: id, version }: VersionPlace) => {
    const entityId = `${id}:${version}`;
    return { tenantId, kind: `${context}-version`, entityId, field: 'definition', dataVersion: version };
  };
  const encoded = (definition: S['definition'], kept: S['kept'] | undefined): Buffer =>
    Buffer.from(JSON.stringify(form.write(definition, kept)));
  const decoded = (bytes: Buffer) => form.read(JSON.parse(bytes.toString()));

  function open(keys: TenantKeys, row: S['row']): ContentOf<S> {
    const { definition, kept } = withWiped(openField(keys, contextOf(row), row.sealed), decoded);
    const isNamed = definition.name === row.name && definition.applicationId === row.application_id;
    if (!isNamed || kept === undefined || !form.isFitting(row, kept)) {
      throw new IntegrityError(`The columns of a ${title} are not what is sealed.`);
    }
    return { ...definition, ...kept };
  }

  return {
    seal: (keys, place, definition, kept) =>
      withWiped(encoded(definition, kept), (bytes) => sealField(keys, contextOf(place), bytes)),
    open,
    reseal(keys, row) {
      open(keys, row);
      return resealField(keys, contextOf(row), row.sealed);
    },
    sealVersion: (keys, place, definition) =>
      withWiped(encoded(definition, undefined), (bytes) => sealField(keys, versionContextOf(place), bytes)),
    openVersion: (keys, row) => withWiped(openField(keys, versionContextOf(row), row.sealed), decoded).definition,
    resealVersion: (keys, row) => resealField(keys, versionContextOf(row), row.sealed),
  };
}

import type { LogEvent } from '../../audit/events.js';
import type { ChangeNotice } from '../../storage/changes.js';
import type { NamedApplication } from '../applications/index.js';
import type { DefinitionRow, RowQueries } from './queries.js';
import type { Sealing } from './sealing.js';
import type { VersionQueries, VersionRow } from './version-queries.js';

export type Configuration = Readonly<Record<string, string>>;

/** What every definition says. */
export interface SharedDefinition {
  readonly name: string;
  readonly configuration: Configuration;
  /** Whose rights the code has. It may be gone: then nobody's. */
  readonly applicationId: string | null;
}

/** The types of a kind. */
export interface DefinitionShape {
  readonly row: DefinitionRow;
  /** What a version says. */
  readonly definition: SharedDefinition;
  /** What is sealed beside it and stays where a version comes back: a secret, a key. */
  readonly kept: object;
  /** A change: what is undefined stays, what is null goes. */
  readonly patch: { readonly applicationId: string | null | undefined };
  readonly body: object;
  /** What shows a new secret, where others do not. */
  readonly newBody: object;
  readonly versionBody: object;
}

/** What is sealed of the row. */
export type ContentOf<S extends DefinitionShape> = S['definition'] & S['kept'];

/** A row with what it says. */
export interface Opened<S extends DefinitionShape> {
  readonly row: S['row'];
  readonly content: ContentOf<S>;
}

export type NamedApplications = ReadonlyMap<string, NamedApplication>;

/** Everything that tells one kind from another where both are stored, changed and listed alike. */
export interface DefinitionKind<S extends DefinitionShape> {
  /** As messages name one: `Reactor`. */
  readonly title: string;
  /** Where they are listed: `/reactors`. */
  readonly path: string;
  readonly rows: RowQueries<S['row']>;
  readonly versions: VersionQueries;
  readonly sealing: Sealing<S>;
  readonly events: Readonly<Record<'created' | 'updated' | 'restored' | 'deleted', LogEvent>>;
  /** What other processes are told of a change, where they remember the kind. */
  readonly notice?: ChangeNotice['kind'];
  readonly keptOf: (content: ContentOf<S>) => S['kept'];
  /** The columns that rows are found by, beside name and Application. */
  readonly columnsOf: (content: ContentOf<S>) => Omit<S['row'], keyof DefinitionRow>;
  readonly read: (body: unknown) => S['definition'];
  readonly readPatch: (body: unknown) => S['patch'];
  readonly applyPatch: (before: S['definition'], patch: S['patch']) => S['definition'];
  /** Where a body that was read names the Application. */
  readonly applicationPath: (body: unknown) => string;
  /** An Application that is gone is not among those there are. */
  readonly bodyOf: (opened: Opened<S>, applications: NamedApplications) => S['body'];
  readonly newBodyOf: (opened: Opened<S>, applications: NamedApplications) => S['newBody'];
  readonly versionBodyOf: (row: VersionRow, definition: S['definition']) => S['versionBody'];
}

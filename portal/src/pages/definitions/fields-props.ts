import type { ConfigurationEntry } from './configuration-entries.js';

/** What every definition has to edit. */
export interface DefinitionContent {
  readonly name: string;
  /** Empty for none. */
  readonly applicationId: string;
  readonly entries: readonly ConfigurationEntry[];
}

/** What a form for one is given. */
export interface FieldsProps<Content extends DefinitionContent> {
  readonly content: Content;
  readonly onChange: (parts: Partial<Content>) => void;
  readonly error: unknown;
  readonly mayChange: boolean;
}

/** A form, and the names whose faults it shows beside its fields. */
export interface DefinitionForm<Content extends DefinitionContent> {
  readonly Fields: (props: FieldsProps<Content>) => React.ReactNode;
  readonly namesOf: (content: Content) => readonly string[];
}

import type { ReactNode } from 'react';
import { Field } from '../../ui/field.js';
import { faultOfField } from '../../ui/form.js';
import { ApplicationSelect } from './application-select.js';
import type { DefinitionContent, FieldsProps } from './fields-props.js';

type Named = Pick<DefinitionContent, 'name' | 'applicationId'>;

export interface NameAndApplicationProps extends Omit<FieldsProps<DefinitionContent>, 'content' | 'onChange'> {
  readonly content: Named;
  readonly onChange: (parts: Partial<Named>) => void;
  /** What the Application is for. */
  readonly hint: string;
  /** Where its faults stand in answers. */
  readonly applicationNames: readonly string[];
  /** Between the two. */
  readonly children?: ReactNode;
}

export function NameAndApplication(props: NameAndApplicationProps) {
  const { content, onChange, error, mayChange } = props;
  return (
    <>
      <Field
        label="Name"
        value={content.name}
        readOnly={!mayChange}
        onChange={(event) => onChange({ name: event.target.value })}
        error={faultOfField(error, 'name')}
        autoComplete="off"
      />
      {props.children}
      <ApplicationSelect
        value={content.applicationId}
        onChange={(applicationId) => onChange({ applicationId })}
        hint={props.hint}
        error={props.applicationNames.map((name) => faultOfField(error, name)).find((fault) => fault !== undefined)}
        mayChange={mayChange}
      />
    </>
  );
}

import { DiffTable } from '../../code/diff-table.js';
import type { VersionPart } from './versions.js';

export interface VersionDiffProps {
  readonly before: readonly VersionPart[];
  readonly after: readonly VersionPart[];
  /** Of the two that are compared. */
  readonly names: readonly [string, string];
}

/** The texts of two versions, part by part. */
export function VersionDiff({ before, after, names }: VersionDiffProps) {
  const changed = before.filter(({ text }, at) => text !== after[at]?.text);
  const same = before.filter((part) => !changed.includes(part));
  return (
    <div className="space-y-5">
      {changed.map(({ title, text }) => (
        <section key={title} className="space-y-2">
          <h3 className="text-sm font-medium">{title}</h3>
          <DiffTable
            label={`${title}: from ${names[0].toLowerCase()} to ${names[1]}`}
            before={text}
            after={after.find((part) => part.title === title)?.text ?? ''}
          />
        </section>
      ))}
      {same.length > 0 && (
        <p className="text-sm text-muted">
          {same.map(({ title }) => title).join(', ')}: the same in both.
          {changed.length === 0 && ' Name, configuration or Application may differ; a version does not show those.'}
        </p>
      )}
    </div>
  );
}

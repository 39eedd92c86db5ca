import type { UseQueryResult } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { useAddress } from '../../tenant/use-address.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Card } from '../../ui/card.js';
import { classes } from '../../ui/classes.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { Select } from '../../ui/select.js';
import { When } from '../../ui/when.js';
import { ActorLink } from './actor-link.js';
import type { DefinitionKind } from './definition-kind.js';
import { TITLES } from './definition-kind.js';
import { RestoreButton } from './restore-button.js';
import { VersionDiff } from './version-diff.js';

/** A text that versions have, such as the code. */
export interface VersionPart {
  readonly title: string;
  readonly text: string;
}

export interface ShownVersion {
  readonly version: number;
  readonly created_by?: string | undefined;
  readonly created_at: string;
  readonly parts: readonly VersionPart[];
}

export interface VersionsProps {
  readonly kind: DefinitionKind;
  readonly id: string;
  /** What is stored now. */
  readonly now: readonly VersionPart[];
  readonly query: UseQueryResult<readonly ShownVersion[]>;
}

/** What it was before: what has changed since, and a way back. */
export function Versions({ kind, id, now, query }: VersionsProps) {
  return (
    <Loaded query={query}>
      {(versions) =>
        versions.length === 0 ? (
          <EmptyState icon={History} title="There is no version before this one">
            Every change of the {TITLES[kind]} keeps the version before it, the last 20 of them.
          </EmptyState>
        ) : (
          <Chosen {...{ kind, id, now, versions }} />
        )
      }
    </Loaded>
  );
}

interface ChosenProps extends Pick<VersionsProps, 'kind' | 'id' | 'now'> {
  readonly versions: readonly ShownVersion[];
}

function Chosen({ kind, id, now, versions }: ChosenProps) {
  const { search, change } = useAddress();
  const { mayChange } = useTenant();
  const chosen = versions.find(({ version }) => String(version) === search.version) ?? versions[0];
  const other = versions.find(({ version }) => String(version) === search.with);
  if (!chosen) return null;
  return (
    <div className="grid items-start gap-6 xl:grid-cols-[18rem_minmax(0,1fr)]">
      <VersionList versions={versions} chosen={chosen.version} onChoose={(version) => change({ version })} />
      <Card
        title={`Version ${chosen.version}`}
        lead={
          <>
            In use from <When at={chosen.created_at} />, made by <ActorLink id={chosen.created_by} />.
          </>
        }
        {...(mayChange && { action: <RestoreButton kind={kind} id={id} version={chosen.version} /> })}
      >
        <div className="space-y-5">
          <Select
            label="Compare with"
            className="max-w-xs"
            value={other ? String(other.version) : ''}
            onChange={(event) => change({ with: event.target.value })}
            options={[
              { value: '', text: 'What is stored now' },
              ...versions
                .filter(({ version }) => version !== chosen.version)
                .map(({ version }) => ({ value: String(version), text: `Version ${version}` })),
            ]}
          />
          <VersionDiff
            before={chosen.parts}
            after={other?.parts ?? now}
            names={[`Version ${chosen.version}`, other ? `version ${other.version}` : 'what is stored now']}
          />
        </div>
      </Card>
    </div>
  );
}

interface VersionListProps {
  readonly versions: readonly ShownVersion[];
  readonly chosen: number;
  readonly onChoose: (version: string) => void;
}

function VersionList({ versions, chosen, onChoose }: VersionListProps) {
  return (
    <ul
      aria-label="Versions"
      className="max-h-96 divide-y divide-line overflow-y-auto rounded-xl border border-line bg-card"
    >
      {versions.map(({ version, created_at: createdAt }) => (
        <li key={version}>
          <button
            type="button"
            aria-pressed={version === chosen}
            onClick={() => onChoose(String(version))}
            className={classes(
              'flex w-full items-baseline justify-between gap-3 px-4 py-2.5 text-left text-sm -outline-offset-2',
              version === chosen ? 'bg-accent-soft font-medium text-accent' : 'hover:bg-sunken',
            )}
          >
            <span>Version {version}</span>
            <span className={classes('text-[13px] font-normal', version !== chosen && 'text-muted')}>
              <When at={createdAt} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

import type { TenantTx } from '../../storage/scope.js';
import type { Group } from './directory-queries.js';
import { findDirectoryVersion, listGroups } from './directory-queries.js';

/** Every group of a tenant that may have tokens. */
export type ReadDirectory = (tx: TenantTx, nowMs: number) => Promise<readonly Group[]>;

/** What the directories of all tenants together may take, in characters; a group counts for some more than its names. */
const CHARACTERS_MAX = 8_000_000;
const CHARACTERS_OF_GROUP = 200;
/** How old the numbers of tokens may be that plans are chosen by. */
const AGE_MAX_MS = 60_000;

interface Remembered {
  readonly version: string;
  readonly readAtMs: number;
  readonly groups: readonly Group[];
  readonly characters: number;
}

const versions = new WeakMap<readonly Group[], string>();

/** Undefined for a directory that was put together otherwise. */
export function versionOf(directory: readonly Group[]): string | undefined {
  return versions.get(directory);
}

/**
 * Remembers the directory while no group is let in: with ten thousand of them, reading it takes far longer than the list
 * it is read for. Whether one was let in is asked every time, so none is missed; one that has no tokens any more finds
 * nothing. The numbers of tokens only choose the plan, and may be a little old.
 */
export function createDirectory(charactersMax = CHARACTERS_MAX): ReadDirectory {
  const remembered = new Map<string, Remembered>();
  let characters = 0;

  function forget(tenantId: string): void {
    characters -= remembered.get(tenantId)?.characters ?? 0;
    remembered.delete(tenantId);
  }

  function remember(tenantId: string, directory: Remembered): void {
    forget(tenantId);
    remembered.set(tenantId, directory);
    characters += directory.characters;
    // The one that was read first goes first; that each is read again now and then keeps those in use at the end.
    for (const oldest of remembered.keys()) {
      if (characters <= charactersMax) break;
      forget(oldest);
    }
  }

  return async (tx, nowMs) => {
    const { tenantId } = tx;
    const version = await findDirectoryVersion(tx);
    const known = remembered.get(tenantId);
    if (known?.version === version && Math.abs(nowMs - known.readAtMs) < AGE_MAX_MS) return known.groups;
    const groups = await listGroups(tx);
    versions.set(groups, version);
    remember(tenantId, { version, readAtMs: nowMs, groups, characters: charactersOf(groups) });
    return groups;
  };
}

function charactersOf(groups: readonly Group[]): number {
  let sum = 0;
  for (const { containers } of groups) {
    sum += CHARACTERS_OF_GROUP;
    for (const container of containers) sum += container.length;
  }
  return sum;
}

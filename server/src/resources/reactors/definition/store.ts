import type { AppError } from '../../../kernel/errors.js';
import type { Memory } from '../../../storage/memory.js';
import type { DefinitionStore, DefinitionsOptions } from '../../definitions/store.js';
import { createDefinitionStore, definitionIdOf, noSuchDefinition } from '../../definitions/store.js';
import type { ReactorShape } from './content.js';
import type { CurrentReactor } from './current-reactor.js';
import { REACTOR_KIND } from './kind.js';

/** Which stored Reactor, or version of one, was changed outside the product. */
export interface ReactorStory {
  readonly tenantId: string;
  readonly reactorId: string;
  readonly version?: number;
  /** Where it is a call that waits, or its result. */
  readonly requestId?: string;
}

export interface StoreOptions extends DefinitionsOptions {
  readonly onReactorAltered: (story: ReactorStory) => void;
  readonly reactorMemory: Pick<Memory<CurrentReactor>, 'find' | 'forgetTenant'>;
}

/** What the calls on Reactors have in common. */
export type ReactorStore = DefinitionStore<ReactorShape>;

export function createReactorStore(options: StoreOptions): ReactorStore {
  const { onReactorAltered, reactorMemory } = options;
  return createDefinitionStore(REACTOR_KIND, options, {
    onAltered: ({ id, ...story }) => onReactorAltered({ ...story, reactorId: id }),
    onChanged: (tenantId) => reactorMemory.forgetTenant(tenantId),
  });
}

export const reactorIdOf = (text: string | undefined): string => definitionIdOf(REACTOR_KIND, text);

export const noSuchReactor = (): AppError => noSuchDefinition(REACTOR_KIND);

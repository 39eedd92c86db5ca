import type { LateSandbox } from '../../sandbox/late-sandbox.js';
import type { DefinitionCalls } from '../definitions/calls.js';
import { createDefinitionCalls } from '../definitions/calls.js';
import type { FigureCalls } from '../definitions/figures/figure-calls.js';
import type { VersionCalls } from '../definitions/version-calls.js';
import { createVersionCalls } from '../definitions/version-calls.js';
import type { ReactorShape } from './definition/content.js';
import { newCallbackSecret } from './definition/kind.js';
import type { StoreOptions } from './definition/store.js';
import { createReactorStore } from './definition/store.js';
import type { ReactorFigures } from './figures/service.js';
import { createReactorFigureCalls } from './figures/service.js';
import { createAccept } from './queue/accept.js';
import { createRequestOpener } from './queue/open-request.js';
import type { QueueSignals } from './queue/queue.js';
import type { RequestCalls } from './queue/service.js';
import { createRequestCalls } from './queue/service.js';
import type { InvokeOptions } from './run/invoke.js';
import { createRunCode } from './run/run-code.js';
import type { RunCalls } from './run/service.js';
import { createRunCalls } from './run/service.js';

export interface ReactorsOptions extends StoreOptions, Omit<InvokeOptions, 'runCode' | 'onInvoked'> {
  readonly sandbox: Pick<LateSandbox, 'run' | 'state'>;
  readonly reactorFigures: Pick<ReactorFigures, 'note' | 'flush'>;
  readonly queue: QueueSignals;
}

export interface Reactors {
  readonly definitions: DefinitionCalls<ReactorShape>;
  readonly versions: VersionCalls<ReactorShape>;
  readonly runs: RunCalls;
  readonly figures: FigureCalls;
  readonly requests: RequestCalls;
}

export function createReactors(options: ReactorsOptions): Reactors {
  const { database, queue, reactorFigures } = options;
  const store = createReactorStore(options);
  const runCode = createRunCode(options.sandbox);
  const accept = createAccept({ database, store, runCode, queue });
  const newKept = () => ({ callbackSecret: newCallbackSecret() });
  return {
    definitions: createDefinitionCalls({ database, store, newKept }),
    versions: createVersionCalls(database, store),
    runs: createRunCalls({ ...options, runCode, onInvoked: reactorFigures.note }, store, accept),
    figures: createReactorFigureCalls(database, reactorFigures),
    requests: createRequestCalls({ database, queue, store, accept, open: createRequestOpener(options, store) }),
  };
}

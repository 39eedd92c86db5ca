import { PoolFullError } from './pool/pool.js';
import type { Sandbox, SandboxOptions, SandboxState } from './sandbox.js';
import { NO_FIGURES, noSandbox, openSandbox } from './sandbox.js';

/** A sandbox that is opened by its first run, or when told to: whoever starts does not wait for it. */
export interface LateSandbox extends Omit<Sandbox, 'state'> {
  /** Undefined until it was opened. */
  state(): SandboxState | undefined;
  /** Resolves once it is known whether code can be run. */
  open(): Promise<SandboxState>;
}

export interface LateSandboxOptions extends SandboxOptions {
  /** Turned off by the operator. */
  readonly isOff: boolean;
  readonly onOpened: (state: SandboxState) => void;
}

const OFF = 'STRONGROOM_REACTORS is off';

export function createLateSandbox(options: LateSandboxOptions): LateSandbox {
  let opening: Promise<Sandbox> | undefined;
  let opened: Sandbox | undefined;
  let isClosed = false;

  function open(): Promise<Sandbox> {
    // Nobody would close one that is opened behind the end.
    if (isClosed && !opening) return Promise.reject(new PoolFullError('the service is stopping'));
    opening ??= (options.isOff ? Promise.resolve(noSandbox(OFF)) : openSandbox(options)).then((sandbox) => {
      opened = sandbox;
      options.onOpened(sandbox.state());
      return sandbox;
    });
    return opening;
  }

  return {
    run: async (code, input, bounds) => (opened ?? (await open())).run(code, input, bounds),
    state: () => opened?.state(),
    figures: () => opened?.figures() ?? NO_FIGURES,
    open: async () => (await open()).state(),
    async close() {
      isClosed = true;
      await (await opening)?.close();
    },
  };
}

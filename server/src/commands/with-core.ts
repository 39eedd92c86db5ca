import { readConfig } from '../config.js';
import type { Core } from '../core.js';
import { openCore } from '../core.js';
import { systemClock } from '../kernel/clock.js';

/** Opens the database and the keys for one act, beside a running server or without one, and closes them again. */
export async function withCore<T>(command: string, act: (core: Core) => Promise<T>): Promise<T> {
  const core = await openCore({
    config: readConfig(),
    clock: systemClock,
    command: `strongroom ${command}`,
    log: () => {},
    onLost: () => {},
    mayJoin: true,
    onWait: sayWaiting,
  });
  try {
    return await act(core);
  } finally {
    await core.close();
  }
}

export function sayWaiting(): void {
  process.stderr.write('Done. Another command uses the database that this one started: waiting until it has ended.\n');
}

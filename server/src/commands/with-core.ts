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
  });
  try {
    return await act(core);
  } finally {
    await core.close();
  }
}

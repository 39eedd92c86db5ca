import { readConfig } from '../../server/dist/config.js';
import type { Core } from '../../server/dist/core.js';
import { openCore } from '../../server/dist/core.js';
import { systemClock } from '../../server/dist/kernel/clock.js';

/**
 * Opens database and keys beside the running product, by its own modules: for what no interface gives, such as a cursor
 * ten million rows deep or a hundred thousand tenants in seconds.
 */
export async function insideProduct<T>(act: (core: Core) => Promise<T>): Promise<T> {
  const core = await openCore({
    config: readConfig(),
    clock: systemClock,
    command: 'npm run bench',
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

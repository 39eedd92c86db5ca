import { systemClock } from '../kernel/clock.js';
import type { SandboxState } from './sandbox.js';
import { openSandbox } from './sandbox.js';

const DEADLINE_MS = 30_000;
const INPUT = {
  args: null,
  configuration: {},
  requestId: '',
  attempt: 1,
  keepsConsole: false,
  origin: { traceId: undefined, sourceAddress: undefined },
};
const CODE = { tenantId: '', ownerId: '', version: '', code: 'module.exports = () => 1;', applicationId: undefined };

/** Makes the wall this machine allows, runs code behind it once, and takes it down. */
export async function examineSandbox(): Promise<SandboxState> {
  const faults: unknown[] = [];
  const sandbox = await openSandbox({
    ...{ instancesMax: 1, instancesPerTenantMax: 1, blanks: 0, aliases: {}, clientNames: [], clock: systemClock },
    answer: () => Promise.reject(new Error('nothing is asked')),
    onFault: (error) => faults.push(error),
  });
  try {
    const state = sandbox.state();
    if (!state.isAvailable) return { ...state, reason: faults.length > 0 ? describe(faults) : state.reason };
    const { outcome } = await sandbox.run(CODE, () => Promise.resolve(INPUT), { deadlineMs: DEADLINE_MS });
    return outcome.outcome === 'returned' ? state : { isAvailable: false, reason: `code ends in: ${outcome.outcome}` };
  } catch (error) {
    return { isAvailable: false, reason: describe([...faults, error]) };
  } finally {
    await sandbox.close();
  }
}

function describe([first]: readonly unknown[]): string {
  return first instanceof Error ? first.message : String(first);
}

import { Stopped } from '../storage/backup/watch.js';
import type { Output } from './command.js';
import { expectInterruption } from './interruption.js';

/** Runs what a signal may stop in its middle, and says then what that leaves behind. */
export async function stoppable(
  output: Output,
  whatIsLeft: string,
  act: (shouldStop: () => boolean) => Promise<number>,
): Promise<number> {
  const interruption = expectInterruption(() => output.say('Stopping …'));
  try {
    return await act(interruption.isAsked);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    output.say(`Stopped. ${whatIsLeft}`);
    return interruption.exitCode();
  } finally {
    interruption.close();
  }
}

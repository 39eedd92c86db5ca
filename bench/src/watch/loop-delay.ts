import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Loaded into the product by `--import`: at each SIGUSR2 it writes how long the longest step on the event loop took since the
 * signal before, in milliseconds, to the file that the environment names.
 */
const NANOSECONDS = 1_000_000;
const { BENCH_LOOP_DELAY_FILE: file } = process.env;
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
let count = 0;
process.on('SIGUSR2', () => {
  count += 1;
  if (file !== undefined) writeFileSync(file, `${count} ${delays.max / NANOSECONDS}`);
  delays.reset();
});

import { readFileSync } from 'node:fs';

/**
 * Loaded into an API node before it (`--import`): its wall clock is off by so many milliseconds as a file says, read anew at
 * every SIGUSR2. Monotonic time goes on, as it does on a machine whose clock is set.
 */
const FILE = process.env.FAULTS_CLOCK_FILE;
const RealDate = globalThis.Date;
let shiftMs = 0;

class ShiftedDate extends RealDate {
  constructor(...parts: []) {
    // Without arguments it is the time; with any, whatever they mean to the real one.
    if (parts.length === 0) super(RealDate.now() + shiftMs);
    else super(...parts);
  }

  static override now(): number {
    return RealDate.now() + shiftMs;
  }
}

if (FILE !== undefined) {
  globalThis.Date = ShiftedDate as DateConstructor; // It adds nothing and leaves nothing out.
  process.on('SIGUSR2', () => {
    shiftMs = Number(readFileSync(FILE, 'utf8'));
  });
}

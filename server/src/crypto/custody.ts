import { ExitError } from '../kernel/exit.js';
import { readRootKeyFile, replaceRootKeyFile } from './root-key-file.js';
import type { RootKeyRing } from './root-key-ring.js';

/** The root keys this process holds, and how to read the current ones. */
export interface Custody {
  readonly file: string | undefined;
  ring(): RootKeyRing;
  /** Reads the key file again; what cannot be read now, or came as a variable, stays as it was. */
  reload(): Promise<RootKeyRing>;
  /** Writes other keys into the key file and goes on with them. Only for keys that came from a file. */
  replace(ring: RootKeyRing): Promise<void>;
}

export function createCustody(loaded: { readonly ring: RootKeyRing; readonly file: string | undefined }): Custody {
  const { file } = loaded;
  let held = loaded.ring;
  let reading: Promise<RootKeyRing> | undefined;

  async function readAgain(path: string): Promise<RootKeyRing> {
    try {
      held = (await readRootKeyFile(path))?.ring ?? held;
    } catch (error) {
      // Somebody may be editing the file by hand; the keys at hand still open what they opened.
      if (!(error instanceof ExitError)) throw error;
    }
    return held;
  }

  return {
    file,
    ring: () => held,
    reload() {
      if (file === undefined) return Promise.resolve(held);
      // Concurrent callers share one read of the file: many failing requests cost one read at a time.
      reading ??= readAgain(file).finally(() => {
        reading = undefined;
      });
      return reading;
    },
    async replace(ring) {
      if (file === undefined) throw new Error('assertion failed: only a key file can be replaced');
      await replaceRootKeyFile(file, ring);
      held = ring;
    },
  };
}

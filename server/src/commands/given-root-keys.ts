import type { Config } from '../config.js';
import { rootKeySource } from '../core.js';
import { loadRootKey } from '../crypto/root-key-custody.js';
import type { RootKeyRing } from '../crypto/root-key-ring.js';
import { EXIT, ExitError } from '../kernel/exit.js';

/** The root keys the settings name, for a command that opens no database. Makes none where there is none. */
export async function givenRootKeys(config: Config, why: string): Promise<RootKeyRing> {
  try {
    return (await loadRootKey({ ...rootKeySource(config), databaseHoldsData: true })).ring;
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    throw new ExitError(EXIT.configuration, `${why}. ${error.message}`, error);
  }
}

import { readSmallSecretFile, SecretFileError } from '../crypto/small-secret-file.js';
import { validationFailed } from '../kernel/errors.js';
import type { Secret } from '../kernel/secret.js';

/** A secret from a file: never an argument, which every process on the machine can read. */
export async function readSecretFile(
  flag: string,
  path: string,
  warn: (text: string) => void,
): Promise<Secret<string>> {
  try {
    const { text, isOpenToOthers } = await readSmallSecretFile(path);
    if (isOpenToOthers) warn(`warning: ${path} can be read by others than its owner; chmod 600 it.`);
    return text;
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error;
    throw validationFailed({ [flag]: [error.message] });
  }
}

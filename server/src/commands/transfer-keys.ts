import { existsSync } from 'node:fs';
import { ExchangeKeyFormatError, parsePrivateExchangeKey, parsePublicExchangeKey } from '../crypto/exchange-key.js';
import type { StreamLock, StreamUnlock } from '../crypto/sealed-stream-keys.js';
import { identityUnlock, passphraseLock, passphraseUnlock, recipientLock } from '../crypto/sealed-stream-keys.js';
import { validationFailed } from '../kernel/errors.js';
import type { Secret } from '../kernel/secret.js';
import { codePointLength } from '../kernel/text.js';
import type { Flags, Output } from './command.js';
import { readSecretFile } from './secret-file.js';

const PASSPHRASE_LENGTH_MIN = 12;

/** How an export is to be sealed; read before the database is opened, so that a slip is told at once. */
export async function lockFrom(
  flags: Flags,
  output: Output,
): Promise<(like: string | undefined) => Promise<StreamLock>> {
  refuseAmbiguous(flags, 'recipient');
  const recipient = flags.text('recipient');
  if (recipient !== undefined) {
    const text = existsSync(recipient) ? await readSecretFile('recipient', recipient, () => {}) : undefined;
    const lock = recipientLock(parsed('recipient', () => parsePublicExchangeKey(text?.reveal() ?? recipient)));
    return async () => lock;
  }
  const passphrase = await passphraseFrom(flags, output);
  if (codePointLength(passphrase.reveal()) < PASSPHRASE_LENGTH_MIN) {
    throw validationFailed({
      'passphrase-file': [`must hold at least ${PASSPHRASE_LENGTH_MIN} characters; six random words are good`],
    });
  }
  return (like) => passphraseLock(passphrase, like === undefined ? {} : { like });
}

export async function unlockFrom(flags: Flags, output: Output): Promise<StreamUnlock> {
  refuseAmbiguous(flags, 'identity');
  const identity = flags.text('identity');
  if (identity === undefined) return passphraseUnlock(await passphraseFrom(flags, output));
  const text = await readSecretFile('identity', identity, output.say);
  return identityUnlock(parsed('identity', () => parsePrivateExchangeKey(text.reveal())));
}

function passphraseFrom(flags: Flags, output: Output): Promise<Secret<string>> {
  return readSecretFile('passphrase-file', flags.text('passphrase-file') ?? '', output.say);
}

function refuseAmbiguous(flags: Flags, other: string): void {
  const given = ['passphrase-file', other].filter((name) => flags.text(name) !== undefined);
  if (given.length === 1) return;
  throw validationFailed({ [other]: [`give either --passphrase-file or --${other}`] });
}

function parsed<T>(flag: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ExchangeKeyFormatError)) throw error;
    throw validationFailed({ [flag]: [error.message] });
  }
}

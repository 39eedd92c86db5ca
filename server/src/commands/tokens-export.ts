import { resolve } from 'node:path';
import { systemClock } from '../kernel/clock.js';
import { validationFailed } from '../kernel/errors.js';
import { EXIT } from '../kernel/exit.js';
import type { ExportOutcome } from '../transfer/export.js';
import { exportTokens } from '../transfer/export.js';
import type { Command, Output } from './command.js';
import { expectInterruption } from './interruption.js';
import { knownTenant } from './known-tenant.js';
import { printable } from './printable.js';
import { createProgressLine } from './progress-line.js';
import { lockFrom } from './transfer-keys.js';
import { withCore } from './with-core.js';

const SEGMENT_TOKENS = 2_000;
const SEGMENT_TOKENS_MAX = 100_000;
const DAMAGED_SHOWN_MAX = 20;

export const tokensExport: Command = {
  name: 'tokens export',
  summary: 'Write every live token of a Tenant, in plain but sealed as a whole, into a folder',
  flags: {
    tenant: { type: 'string', placeholder: 'tenant id', about: 'Tenant whose tokens they are', isRequired: true },
    out: { type: 'string', placeholder: 'folder', about: 'Where to; must be empty or not there yet', isRequired: true },
    'passphrase-file': { type: 'string', placeholder: 'file', about: 'Seal with the passphrase in this file' },
    recipient: {
      type: 'string',
      placeholder: 'key or file',
      about: 'Seal to this public key, from strongroom export-key generate',
    },
    resume: { type: 'boolean', about: 'Go on with an export that did not finish' },
    'segment-tokens': {
      type: 'string',
      placeholder: 'number',
      about: `Tokens in a file at most, ${SEGMENT_TOKENS} without it`,
    },
  },
  run: async (flags, output) => {
    const segmentTokensMax = segmentTokens(flags.text('segment-tokens'));
    const lockLike = await lockFrom(flags, output);
    const folder = resolve(flags.text('out') ?? '');
    return withCore('tokens export', async ({ database, keyStore }) => {
      const { id: tenantId } = await knownTenant(database, flags.text('tenant'));
      const terminal = process.stderr.isTTY ? process.stderr : undefined;
      const progress = createProgressLine({ clock: systemClock, output, terminal });
      const interruption = expectInterruption(() => {
        progress.clear();
        output.say('Stopping after the current batch …');
      });
      try {
        const outcome = await exportTokens({
          database,
          keyring: keyStore.keyring,
          clock: systemClock,
          tenantId,
          folder,
          isResuming: flags.isSet('resume'),
          segmentTokensMax,
          lockLike,
          shouldStop: interruption.isAsked,
          onProgress: (done, total) => progress.show(done, total, 'tokens exported'),
        });
        progress.clear();
        tell(output, folder, outcome);
        if (outcome.kind === 'interrupted') return interruption.exitCode();
        return outcome.damaged.length > 0 ? EXIT.failure : EXIT.ok;
      } finally {
        progress.clear();
        interruption.close();
      }
    });
  },
};

function tell(output: Output, folder: string, outcome: ExportOutcome): void {
  const { kind, tokens, segments, tokensNow, damaged } = outcome;
  if (kind === 'was-complete') {
    output.say(`The export in ${folder} is complete already; nothing was done.`);
    return;
  }
  if (tokensNow > 0) {
    output.say(`The Tenant's log has an entry "Token retrieved" for every token of this run: ${tokensNow}.`);
  }
  if (damaged.length > 0) {
    const shown = damaged.slice(0, DAMAGED_SHOWN_MAX).map(printable).join(', ');
    output.say(`Altered in the database, so they do not open and are left out: ${damaged.length}, such as ${shown}`);
  }
  if (kind === 'interrupted') output.say('Stopped. The same command with --resume goes on from here.');
  const what = `${counted(tokens, 'token')} in ${counted(segments, 'segment')}`;
  output.print(`${kind === 'complete' ? 'Exported' : 'So far'} ${what}: ${folder}`);
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function segmentTokens(text: string | undefined): number {
  if (text === undefined) return SEGMENT_TOKENS;
  const number = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= SEGMENT_TOKENS_MAX) return number;
  throw validationFailed({ 'segment-tokens': [`must be a number from 1 to ${SEGMENT_TOKENS_MAX}`] });
}

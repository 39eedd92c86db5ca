import { resolve } from 'node:path';
import { createExpressions } from '../expressions/expressions.js';
import { systemClock } from '../kernel/clock.js';
import { validationFailed } from '../kernel/errors.js';
import { EXIT } from '../kernel/exit.js';
import type { ImportOptions, ImportOutcome } from '../transfer/import.js';
import { importTokens } from '../transfer/import.js';
import type { Command, Output } from './command.js';
import { expectInterruption } from './interruption.js';
import { knownTenant } from './known-tenant.js';
import { printable } from './printable.js';
import { createProgressLine } from './progress-line.js';
import { unlockFrom } from './transfer-keys.js';
import { withCore } from './with-core.js';

export const tokensImport: Command = {
  name: 'tokens import',
  summary: 'Bring the tokens of an export into a Tenant, under its own keys; run again it does what is left',
  flags: {
    tenant: { type: 'string', placeholder: 'tenant id', about: 'Tenant they go to', isRequired: true },
    in: { type: 'string', placeholder: 'folder', about: 'The folder tokens export wrote', isRequired: true },
    'passphrase-file': { type: 'string', placeholder: 'file', about: 'Open with the passphrase in this file' },
    identity: { type: 'string', placeholder: 'file', about: 'Open with the private key in this file' },
    'on-conflict': {
      type: 'string',
      placeholder: 'fail or skip',
      about: 'When another token has the id: fail before anything is written (without it), or skip that token',
    },
    deduplicate: { type: 'boolean', about: 'Leave out tokens whose fingerprint another token of the Tenant has' },
  },
  run: async (flags, output) => {
    const onConflict = conflictRule(flags.text('on-conflict'));
    const unlock = await unlockFrom(flags, output);
    const folder = resolve(flags.text('in') ?? '');
    return withCore('tokens import', async ({ database, keyStore }) => {
      const tenant = await knownTenant(database, flags.text('tenant'));
      const terminal = process.stderr.isTTY ? process.stderr : undefined;
      const progress = createProgressLine({ clock: systemClock, output, terminal });
      const interruption = expectInterruption(() => {
        progress.clear();
        output.say('Stopping after the current batch …');
      });
      try {
        const outcome = await importTokens({
          database,
          keyring: keyStore.keyring,
          expressions: createExpressions(),
          clock: systemClock,
          tenantId: tenant.id,
          settings: { isFingerprinting: tenant.fingerprint_tokens, isDeduplicating: tenant.deduplicate_tokens },
          folder,
          unlock,
          onConflict,
          isDeduplicating: flags.isSet('deduplicate'),
          shouldStop: interruption.isAsked,
          onProgress: (done, total, phase) =>
            progress.show(done, total, phase === 'check' ? 'tokens checked' : 'tokens imported'),
        });
        progress.clear();
        tell(output, outcome);
        if (outcome.kind === 'interrupted') return interruption.exitCode();
        if (outcome.kind === 'conflict') return EXIT.usage;
        return outcome.refusedCount > 0 ? EXIT.failure : EXIT.ok;
      } finally {
        progress.clear();
        interruption.close();
      }
    });
  },
};

function tell(output: Output, outcome: ImportOutcome): void {
  const { kind, tokens, created, refused, refusedCount } = outcome;
  if (kind === 'conflict') {
    const { conflicts, conflictIds } = outcome;
    const more = conflicts > conflictIds.length ? ` and ${conflicts - conflictIds.length} more` : '';
    output.say(
      `strongroom: other tokens of this Tenant have ids of the export: ${conflictIds.map(printable).join(', ')}${more}.` +
        '\nNothing was imported. Choose another Tenant, or leave these as they are with --on-conflict skip.',
    );
    return;
  }
  const notes: readonly (readonly [number, string])[] = [
    [outcome.present, 'were there already'],
    [outcome.conflicts, 'left out: another token has the id'],
    [outcome.matched, 'left out: another token has the fingerprint'],
    [outcome.expired, 'left out: expired'],
    [refusedCount, 'refused'],
    [outcome.incomplete, 'imported without an index or fingerprint that gives nothing here'],
  ];
  for (const [count, what] of notes) if (count > 0) output.say(`${count} ${what}`);
  for (const story of refused) output.say(`  ${story}`);
  if (refusedCount > refused.length) output.say(`  and ${refusedCount - refused.length} more`);
  if (kind === 'interrupted') output.say('Stopped. The same command goes on from here.');
  output.print(`Imported ${created} of ${tokens} tokens.`);
}

function conflictRule(text = 'fail'): ImportOptions['onConflict'] {
  if (text === 'fail' || text === 'skip') return text;
  throw validationFailed({ 'on-conflict': ['must be fail or skip'] });
}

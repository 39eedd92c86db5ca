import type { JobRecord } from '../jobs/job-record.js';
import { SECOND_MS } from '../jobs/job-record.js';
import type { Vault } from './vault.js';

export function vaultJobs(vault: Pick<Vault, 'sweepExpired' | 'sweepCvcs'>): JobRecord[] {
  return [
    { name: 'token-expiry', restMs: 5 * SECOND_MS, step: vault.sweepExpired },
    { name: 'cvc-removal', restMs: 5 * SECOND_MS, step: vault.sweepCvcs },
  ];
}

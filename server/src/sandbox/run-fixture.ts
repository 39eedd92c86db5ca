import type { CodeVersion, RunInput } from './run.js';

/** A run that is about nothing but its code. */
export const PLAIN_INPUT: RunInput = {
  args: {},
  configuration: {},
  requestId: 'r',
  attempt: 1,
  keepsConsole: false,
  origin: { traceId: undefined, sourceAddress: undefined },
};

export const plainInput = () => Promise.resolve(PLAIN_INPUT);

/** Each code is another owner's, so that none finds what another left behind. */
export function plainCode(code: string, tenantId = 't'): CodeVersion {
  return { tenantId, ownerId: code, version: '1', code, applicationId: undefined };
}

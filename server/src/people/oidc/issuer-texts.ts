import type { Oidc } from './oidc.js';

type Issuer = ReturnType<Oidc['list']>[number];

/** An issuer may write its own name with the slash at the end or without it. */
export function issuerTexts({ issuer }: Pick<Issuer, 'issuer'>): readonly string[] {
  return [issuer, issuer.replace(/\/$/, '')];
}

/** Issuers whose word stands for a second factor, as they may write themselves. */
export function secondFactorIssuers(issuers: readonly Issuer[]): readonly string[] {
  return issuers.filter(({ hasSecondFactor }) => hasSecondFactor).flatMap(issuerTexts);
}

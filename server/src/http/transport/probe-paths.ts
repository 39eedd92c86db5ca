/** A supervisor asks here, by the simplest client there is. */
const PROBES = new Set(['/healthz', '/readyz', '/healthz/', '/readyz/']);

export function isProbe(pathname: string): boolean {
  return PROBES.has(pathname);
}

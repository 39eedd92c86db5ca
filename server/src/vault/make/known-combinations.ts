/** How long a process need not ask again for a combination that it knows. */
const REMEMBERED_MS = 600_000;
const ENTRIES_MAX = 50_000;

/** The combinations a process knows to have been let in, by tenant, each with the time until which that holds. */
export class KnownCombinations {
  readonly #byTenant = new Map<string, Map<string, number>>();
  #entries = 0;

  has(tenantId: string, groupId: string, nowMs: number): boolean {
    const untilMs = this.#byTenant.get(tenantId)?.get(groupId);
    return untilMs !== undefined && untilMs > nowMs;
  }

  add(tenantId: string, groupId: string, nowMs: number): void {
    if (this.#entries >= ENTRIES_MAX) {
      this.#byTenant.clear();
      this.#entries = 0;
    }
    const groups = this.#byTenant.get(tenantId) ?? new Map<string, number>();
    this.#byTenant.set(tenantId, groups);
    if (!groups.has(groupId)) this.#entries += 1;
    groups.set(groupId, nowMs + REMEMBERED_MS);
  }
}

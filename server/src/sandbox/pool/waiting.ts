/** A call that waits for an instance. */
export interface Waiter<T> {
  readonly tenantId: string;
  /** What an instance has to be loaded with to serve it at once. */
  readonly key: string;
  readonly resolve: (granted: T) => void;
  readonly reject: (error: Error) => void;
}

/** Calls that wait, by tenant in turn, and each tenant's in the order they came. */
export class Waiting<T> {
  /** In the order in which the tenants are served next. */
  readonly #byTenant = new Map<string, Waiter<T>[]>();

  get size(): number {
    let size = 0;
    for (const waiters of this.#byTenant.values()) size += waiters.length;
    return size;
  }

  countOf(tenantId: string): number {
    return this.#byTenant.get(tenantId)?.length ?? 0;
  }

  add(waiter: Waiter<T>): void {
    const waiters = this.#byTenant.get(waiter.tenantId);
    if (waiters) waiters.push(waiter);
    else this.#byTenant.set(waiter.tenantId, [waiter]);
  }

  remove(waiter: Waiter<T>): void {
    const waiters = this.#byTenant.get(waiter.tenantId);
    const at = waiters?.indexOf(waiter) ?? -1;
    if (waiters && at !== -1) waiters.splice(at, 1);
    if (waiters?.length === 0) this.#byTenant.delete(waiter.tenantId);
  }

  /** The next of a tenant that may have one; its tenant then stands behind the others. */
  takeNext(mayHave: (tenantId: string) => boolean): Waiter<T> | undefined {
    for (const [tenantId, waiters] of this.#byTenant) {
      if (!mayHave(tenantId)) continue;
      const waiter = waiters.shift();
      this.#byTenant.delete(tenantId);
      if (waiters.length > 0) this.#byTenant.set(tenantId, waiters);
      return waiter;
    }
    return undefined;
  }

  /** The next that wants this very key. */
  takeFor(tenantId: string, key: string): Waiter<T> | undefined {
    const waiter = this.#byTenant.get(tenantId)?.find((each) => each.key === key);
    if (waiter) this.remove(waiter);
    return waiter;
  }

  takeAll(): Waiter<T>[] {
    const all = [...this.#byTenant.values()].flat();
    this.#byTenant.clear();
    return all;
  }
}

/** How long a process computes before the next one has its turn. */
const TURN_MS = 100;

export type Pause = (pid: number, isPaused: boolean) => void;

/**
 * Processes that compute for long, of which only so many run at once: the others stand still until it is their turn. One
 * processor is left to everybody else that way, however many compute. Tenants have turns in the same number, whatever they
 * have running.
 */
export class Turns {
  readonly #places: number;
  readonly #pause: Pause;
  /** In the order of their next turns, tenants and the processes of each. */
  readonly #byTenant = new Map<string, number[]>();
  #running = new Set<number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(places: number, pause: Pause = pauseProcess) {
    this.#places = places;
    this.#pause = pause;
  }

  join(tenantId: string, pid: number): void {
    this.#byTenant.set(tenantId, [...(this.#byTenant.get(tenantId) ?? []), pid]);
    if (this.#running.size < this.#places) this.#running.add(pid);
    else this.#pause(pid, true);
    if (this.#count() > this.#places) this.#timer ??= setInterval(() => this.#next(), TURN_MS).unref();
  }

  /** Leaves it running, if it is there at all. */
  leave(tenantId: string, pid: number): void {
    const all = this.#byTenant.get(tenantId);
    if (!all?.includes(pid)) return;
    const others = all.filter((each) => each !== pid);
    if (others.length > 0) this.#byTenant.set(tenantId, others);
    else this.#byTenant.delete(tenantId);
    if (!this.#running.delete(pid)) this.#pause(pid, false);
    if (this.#count() <= this.#places) this.#stop();
    if (this.#running.size < this.#places) this.#next();
  }

  #next(): void {
    const chosen = new Set<number>();
    // Each tenant once, then each again, until the places are taken or nobody is left.
    const wanted = Math.min(this.#places, this.#count());
    while (chosen.size < wanted) {
      for (const [tenantId, pids] of [...this.#byTenant]) {
        const pid = pids.find((each) => !chosen.has(each));
        if (chosen.size === wanted || pid === undefined) continue;
        chosen.add(pid);
        this.#putLast(tenantId, pid);
      }
    }
    for (const pid of this.#running) if (!chosen.has(pid)) this.#pause(pid, true);
    for (const pid of chosen) if (!this.#running.has(pid)) this.#pause(pid, false);
    this.#running = chosen;
  }

  #putLast(tenantId: string, pid: number): void {
    const pids = this.#byTenant.get(tenantId) ?? [];
    this.#byTenant.delete(tenantId);
    this.#byTenant.set(tenantId, [...pids.filter((each) => each !== pid), pid]);
  }

  #count(): number {
    let count = 0;
    for (const pids of this.#byTenant.values()) count += pids.length;
    return count;
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function pauseProcess(pid: number, isPaused: boolean): void {
  try {
    process.kill(pid, isPaused ? 'SIGSTOP' : 'SIGCONT');
  } catch {
    // It has ended meanwhile.
  }
}

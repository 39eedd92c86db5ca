/** As much of an `AbortSignal` as is used here: one that the platform made is one too. */
export interface EndSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
  throwIfAborted(): void;
}

/**
 * What may end once, for a reason. The platform's `AbortController` does the same, and takes as long as all the checks of a
 * request; every call through a Proxy needs two.
 */
export class EndSource implements EndSignal {
  #aborted = false;
  #reason: unknown;
  #listeners: (() => void)[] = [];

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    const told = this.#listeners;
    this.#listeners = [];
    for (const tell of told) tell();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.#aborted && !this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }
}

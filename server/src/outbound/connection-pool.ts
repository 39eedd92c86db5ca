import type { OutboundConnection } from './connection.js';

export interface OutboundConnectionsOptions {
  readonly idleMs: number;
  readonly idleMax: number;
}

/** Connections that wait for the next request, by the name they may be used under. The last one left is the first one taken. */
export class OutboundConnections {
  readonly #options: OutboundConnectionsOptions;
  readonly #idle = new Map<string, OutboundConnection[]>();
  /** Set off again for each wait: that takes far less time than a new one. */
  readonly #timers = new WeakMap<OutboundConnection, { readonly ms: number; readonly timer: NodeJS.Timeout }>();
  #count = 0;

  constructor(options: OutboundConnectionsOptions) {
    this.#options = options;
  }

  idleCount(): number {
    return this.#count;
  }

  take(name: string): OutboundConnection | undefined {
    const connections = this.#idle.get(name);
    const connection = connections?.pop();
    if (connection === undefined) return undefined;
    this.#count -= 1;
    if (connections?.length === 0) this.#idle.delete(name);
    return connection.isOpen ? connection : this.take(name);
  }

  /** For another request within so many milliseconds, if there is room. */
  keep(name: string, connection: OutboundConnection, keepMs: number): void {
    const ms = Math.min(keepMs, this.#options.idleMs);
    if (ms <= 0 || this.#count >= this.#options.idleMax || !connection.isOpen) {
      connection.destroy();
      return;
    }
    const connections = this.#idle.get(name);
    if (connections === undefined) this.#idle.set(name, [connection]);
    else connections.push(connection);
    this.#count += 1;
    this.#time(name, connection, ms);
  }

  destroy(): void {
    for (const connections of this.#idle.values()) for (const connection of connections) connection.destroy();
    this.#idle.clear();
    this.#count = 0;
  }

  #time(name: string, connection: OutboundConnection, ms: number): void {
    const known = this.#timers.get(connection);
    if (known?.ms === ms) {
      known.timer.refresh();
      return;
    }
    if (known === undefined) connection.onceClosed(() => this.#forget(name, connection));
    else clearTimeout(known.timer);
    const timer = setTimeout(() => {
      if (this.#idle.get(name)?.includes(connection)) connection.destroy();
    }, ms);
    this.#timers.set(connection, { ms, timer: timer.unref() });
  }

  #forget(name: string, connection: OutboundConnection): void {
    clearTimeout(this.#timers.get(connection)?.timer);
    const connections = this.#idle.get(name);
    const at = connections?.indexOf(connection) ?? -1;
    if (at === -1) return;
    connections?.splice(at, 1);
    this.#count -= 1;
    if (connections?.length === 0) this.#idle.delete(name);
  }
}

import type { AgentOptions, ClientRequest, ClientRequestArgs } from 'node:http';
import { Agent } from 'node:http';
import type { Socket } from 'node:net';

/** How one request gets its connection. */
export interface PooledRequest extends ClientRequestArgs {
  /** Requests under the same name may use each other's connection. */
  readonly poolName: string;
  readonly open: () => Promise<Socket>;
}

export interface SocketPoolOptions {
  readonly idleMs: number;
  readonly idleMax: number;
}

/**
 * Keeps connections for the next request under the same name. How many may be in use is bounded before a request comes here,
 * so nothing ever waits in the platform's own queue.
 */
export class SocketPool extends Agent {
  readonly #idleMax: number;
  readonly #idle = new Map<Socket, () => void>();

  constructor({ idleMs, idleMax }: SocketPoolOptions) {
    const options: AgentOptions = { keepAlive: true, timeout: idleMs, maxFreeSockets: idleMax };
    super(options);
    this.#idleMax = idleMax;
  }

  idleCount(): number {
    return this.#idle.size;
  }

  override getName(options?: ClientRequestArgs): string {
    return pooled(options).poolName;
  }

  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, socket: Socket) => void,
  ): undefined {
    // The platform takes no socket where there is an error.
    const onError = callback as ((error: Error) => void) | undefined;
    pooled(options)
      .open()
      .then((socket) => callback?.(null, socket), onError);
  }

  /** A destination that speaks unasked would have its words taken for the answer to the next request. */
  override keepSocketAlive(socket: Socket): boolean {
    if (this.#idle.size >= this.#idleMax || socket.readableLength > 0) return false;
    const isKept: unknown = super.keepSocketAlive(socket); // Declared without the value that its documentation promises.
    if (!isKept) return false;
    const end = (): void => {
      socket.destroy();
    };
    const forget = (): void => {
      this.#idle.delete(socket);
      socket.off('data', end).off('end', end).off('close', forget);
    };
    this.#idle.set(socket, forget);
    socket.on('data', end).on('end', end).on('close', forget);
    return true;
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    this.#idle.get(socket)?.();
    super.reuseSocket(socket, request);
  }
}

function pooled(options: ClientRequestArgs | undefined): PooledRequest {
  return options as PooledRequest; // Only `exchange` makes requests with this pool, and it gives both members.
}

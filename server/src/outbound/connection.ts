import type { Socket } from 'node:net';

/** The request that a connection is used for now. */
export interface ConnectionUser {
  onBytes(bytes: Buffer): void;
  /** The destination sends no more. */
  onFinished(): void;
  /** Nothing more can be sent or received. */
  onLost(error: unknown): void;
  onDrained(): void;
}

/** A connection to a destination, for one request after the other. */
export class OutboundConnection {
  readonly #socket: Socket;
  #user: ConnectionUser | undefined;
  #error: unknown;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket
      .on('data', (bytes) => {
        // One that speaks unasked would have its words taken for the answer to the next request.
        if (this.#user === undefined) socket.destroy();
        else this.#user.onBytes(bytes);
      })
      .on('end', () => {
        if (this.#user === undefined) socket.destroy();
        else this.#user.onFinished();
      })
      .on('drain', () => this.#user?.onDrained())
      .on('error', (error) => {
        this.#error = error;
      })
      .on('close', () => this.#user?.onLost(this.#error));
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  /** All that was written is on its way, and all that came was handed on. */
  get isSettled(): boolean {
    return this.#socket.writableLength === 0 && this.#socket.readableLength === 0;
  }

  use(user: ConnectionUser): void {
    this.#user = user;
  }

  leave(): void {
    this.#user = undefined;
    // One that was held back would not notice its end, nor what is said unasked.
    this.resume();
  }

  /** False when no more should be written for now. */
  write(bytes: Buffer): boolean {
    return this.#socket.write(bytes);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  onceClosed(call: () => void): void {
    this.#socket.once('close', call);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

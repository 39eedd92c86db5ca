import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:http';
import { Bag } from '../../kernel/bag.js';
import { BodyCollector, FragmentWatch } from '../../kernel/body-collector.js';
import type { EndSignal } from '../../kernel/end-signal.js';

export interface CallBounds {
  readonly deadlineMs: number;
  readonly bytesMax: number;
  readonly signal?: EndSignal | undefined;
}

export interface CallAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** Why a call has no answer. */
export type CallFault = 'deadline' | 'too_large' | 'aborted' | 'broken';

export class EngineCallError extends Error {
  readonly fault: CallFault;

  constructor(fault: CallFault, cause?: unknown) {
    super(`the engine did not answer: ${fault}`, { cause });
    this.fault = fault;
  }
}

const HEADER_BYTES_MAX = 32 * 1024;

/** Calls to one engine over its socket. */
export class EngineCalls {
  readonly #socketPath: string;
  readonly #agent: Agent;
  readonly #aborts = new Bag<() => void>();
  #isClosed = false;

  constructor(socketPath: string, connectionsMax: number) {
    this.#socketPath = socketPath;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connectionsMax });
  }

  call(path: string, body: Buffer | string, { deadlineMs, bytesMax, signal }: CallBounds): Promise<CallAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new EngineCallError('broken'));
      if (signal?.aborted) return reject(new EngineCallError('aborted'));
      const asked = request({
        socketPath: this.#socketPath,
        path,
        method: 'POST',
        agent: this.#agent,
        headers: { Host: 'engine', 'Content-Length': Buffer.byteLength(body) },
        maxHeaderSize: HEADER_BYTES_MAX,
      });
      const abort = (): void => end(new EngineCallError('broken'));
      const giveUp = (): void => end(new EngineCallError('aborted'));
      const timer = setTimeout(() => end(new EngineCallError('deadline')), deadlineMs);
      let isOver = false;
      const end = (outcome: CallAnswer | EngineCallError): void => {
        isOver = true;
        clearTimeout(timer);
        this.#aborts.remove(placed);
        signal?.removeEventListener('abort', giveUp);
        if (outcome instanceof EngineCallError) {
          reject(outcome);
          asked.destroy();
        } else {
          resolve(outcome);
        }
      };
      const placed = this.#aborts.add(abort);
      signal?.addEventListener('abort', giveUp);
      asked.on('error', (error) => end(new EngineCallError('broken', error)));
      asked.on('close', () => {
        // Whatever speaks another protocol is given up without an error. An error takes time to be made, and most often there
        // is an answer by now.
        if (!isOver) abort();
      });
      asked.on('response', (response) => collect(response, bytesMax, end));
      asked.end(body);
    });
  }

  /** Ends what is under way. */
  close(): void {
    this.#isClosed = true;
    for (const abort of this.#aborts.members()) abort();
    this.#agent.destroy();
  }
}

function collect(
  response: IncomingMessage,
  bytesMax: number,
  end: (outcome: CallAnswer | EngineCallError) => void,
): void {
  const read = new BodyCollector();
  const watch = new FragmentWatch();
  let isOver = false;
  response.on('data', (piece: Buffer) => {
    if (isOver) return;
    read.add(piece);
    isOver = read.bytes > bytesMax || watch.add(piece.length);
    if (!isOver) return;
    read.clear();
    end(new EngineCallError('too_large'));
  });
  response.on('end', () => {
    const { statusCode: status = 0 } = response;
    if (!isOver) end({ status, body: read.take() });
  });
  response.on('error', (error) => end(new EngineCallError('broken', error)));
  response.on('aborted', () => end(new EngineCallError('broken')));
}

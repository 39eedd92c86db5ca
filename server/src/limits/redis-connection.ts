/** One connection, from its handshake to its first fault. It is never reconnected: its user makes a new one. */
export interface RedisConnection {
  /** Rejects when there is no answer in time, when Redis answers with an error, and after `close`. */
  send(command: readonly string[]): Promise<unknown>;
  /** At once, whatever is under way. */
  close(): void;
}

export interface RedisConnectionOptions {
  /** `redis://` or `rediss://`. */
  readonly url: string;
  readonly callMaxMs: number;
  readonly connectMaxMs: number;
  /** A fault noticed between calls. Comes at most once, and not after `close`. */
  readonly onLost: (error: unknown) => void;
}

/** More calls than this under way means that Redis does not keep up. */
const CALLS_MAX = 10_000;

export async function connectRedis(options: RedisConnectionOptions): Promise<RedisConnection> {
  // Loaded by those alone who use Redis: it takes a tenth of a start.
  const { createClient, ErrorReply } = await import('./redis-client.js');
  const read = (error: unknown): unknown => (error instanceof ErrorReply ? new RedisRefusal(error.message) : error);
  const client = createClient({
    url: options.url,
    // The older protocol needs no greeting, so servers and proxies without the newer one do as well.
    RESP: 2,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // Nothing waits for a connection: a request that cannot be counted now is counted here.
    disableOfflineQueue: true,
    commandsQueueMaxLength: CALLS_MAX,
    // Its time limit ends when the command is written, which is not the time that matters.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: options.connectMaxMs, reconnectStrategy: false },
  });
  let isOver = false;
  let fault: unknown;
  function end(): void {
    isOver = true;
    client.destroy();
  }
  client.on('error', (error) => {
    if (isOver) return;
    fault = read(error);
    end();
    options.onLost(fault);
  });
  client.unref();

  const connecting = client.connect();
  try {
    await within(connecting, options.connectMaxMs);
  } catch (error) {
    end();
    // A connection attempt that succeeds later is closed then; it cannot be closed earlier.
    connecting.then(() => client.destroy()).catch(() => {});
    throw read(error);
  }
  return {
    send: (command) =>
      within(client.sendCommand(command), options.callMaxMs).catch((error: unknown) => {
        // Calls under way are told that the connection was ended; why is more use.
        throw fault ?? read(error);
      }),
    close: end,
  };
}

/** An error that Redis answered with. Of its text only the code is kept: some errors quote the password. */
class RedisRefusal extends Error {
  /** The first word, such as OOM or READONLY. */
  readonly code: string;

  constructor(text: string) {
    const [first = ''] = text.split(' ', 1);
    const code = /^[A-Z]{1,20}$/.test(first) ? first : 'ERR';
    super(`Redis answered ${code}`);
    this.code = code;
  }
}

/** Why Redis is not to be used, in words that repeat nothing it was sent. */
export function redisReasonOf(error: unknown): string {
  if (error instanceof RedisRefusal) return error.message;
  if (!(error instanceof Error)) return 'unknown';
  const code = 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : error.name === 'Error' ? error.constructor.name : error.name;
}

/** What Redis answered in place of a result; undefined where the fault is another. */
export function redisCodeOf(error: unknown): string | undefined {
  return error instanceof RedisRefusal ? error.code : undefined;
}

/**
 * The second half of the wait begins when this process gets to it, and sockets are read before and after. When the process
 * itself was busy for so long, the call may not even have been written, or the answer be there: Redis is not to blame.
 */
function within<T>(work: Promise<T>, maxMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(Object.assign(new Error(`no answer within ${maxMs} ms`), { code: 'ETIMEDOUT' }));
    const waitOn = (): void => {
      timer = setTimeout(() => setImmediate(giveUp), maxMs / 2);
    };
    let timer = setTimeout(waitOn, maxMs / 2);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

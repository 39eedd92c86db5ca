import type { EmbeddedServer, ServerAddress } from './embedded/embedded-server.js';

export interface SupervisedServer {
  readonly address: ServerAddress;
  close(): Promise<void>;
}

export interface SupervisorOptions {
  readonly start: () => Promise<EmbeddedServer>;
  readonly log: (line: string) => void;
  /** The server cannot be brought back; the process had better end. */
  readonly onLost: (reason: string) => void;
}

const RESTARTS_IN_A_ROW_MAX = 5;
const RESTART_DELAY_MS = 200;
/** A server that stayed up this long has recovered. */
const STEADY_MS = 30_000;

/** Brings the embedded server back when it dies by itself. Until it is back, requests are answered with 503. */
export async function superviseEmbeddedServer(options: SupervisorOptions): Promise<SupervisedServer> {
  let isClosed = false;
  let restarts = 0;
  let restarting: Promise<void> | undefined;
  let server = await options.start();
  const address: ServerAddress = server;

  function watch(): void {
    const steady = setTimeout(() => {
      restarts = 0;
    }, STEADY_MS);
    steady.unref();
    server.onExit((reason) => {
      clearTimeout(steady);
      if (!isClosed) restarting = bringBack(reason);
    });
  }

  async function bringBack(reason: string): Promise<void> {
    options.log(`the embedded database ended by itself (${reason}); starting it again`);
    await server.stop();
    while (!isClosed) {
      restarts += 1;
      try {
        server = await options.start();
        break;
      } catch (error) {
        const story = error instanceof Error ? error.message : 'unknown';
        if (restarts >= RESTARTS_IN_A_ROW_MAX) return options.onLost(story);
        await new Promise((resolve) => setTimeout(resolve, RESTART_DELAY_MS * restarts));
      }
    }
    if (server.socketDir !== address.socketDir) return options.onLost('its socket folder moved');
    watch();
  }

  watch();
  return {
    address,
    async close() {
      isClosed = true;
      await restarting;
      await server.stop();
    },
  };
}

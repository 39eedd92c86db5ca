import { startSharedServer } from './shared-server.js';

/** Runs the server of a whole test run: prints where it is, and ends when standard input closes or it is told to. */
const server = await startSharedServer();
const stop = (): void => void server.stop().finally(() => process.exit());
process.stdout.write(`${server.socketDir}:${server.port}\n`);
process.stdin.resume();
process.stdin.once('end', stop);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);

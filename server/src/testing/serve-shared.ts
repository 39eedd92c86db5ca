import { describeShared, startSharedServer } from './shared-server.js';

/** Runs the server of a whole test run: prints where it is, and ends when standard input closes or it is told to. */
const server = await startSharedServer(process.env.TEST_DATABASE === 'citus');
const stop = (): void => void server.stop().finally(() => process.exit());
process.stdout.write(`${describeShared(server)}\n`);
process.stdin.resume();
process.stdin.once('end', stop);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);

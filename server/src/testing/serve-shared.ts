import { startSharedServer } from './shared-server.js';

/** Runs the server of a whole test run: prints where it is, and ends when standard input closes. */
const server = await startSharedServer();
process.stdout.write(`${server.socketDir}:${server.port}\n`);
process.stdin.resume();
process.stdin.once('end', () => void server.stop());

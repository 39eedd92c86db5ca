import { ExitError } from '../../kernel/exit.js';
import { startEmbeddedServer } from './embedded-server.js';

/** A process for tests to kill: holds the server of the folder that it is given. */
try {
  await startEmbeddedServer({ dataDir: process.argv[2] ?? '', command: 'strongroom holder', log: () => {} });
  process.stdout.write('ready\n');
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof ExitError ? error.exitCode : 1;
}

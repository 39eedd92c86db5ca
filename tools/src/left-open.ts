import { after } from 'node:test';

/** How long the process of a group may go on after its last test. */
const OPEN_MAX_MS = Number(process.env.TEST_OPEN_MS ?? 120_000);

/** Fails a group whose tests leave a server, a connection or a timer open, which would keep its process alive for ever. */
after(() => {
  setTimeout(() => {
    const kinds = process.getActiveResourcesInfo().join(', ');
    process.stderr.write(`these tests ended and left something open: ${kinds}\n`);
    process.exit(1);
  }, OPEN_MAX_MS).unref();
});

/**
 * Loaded into the product before it (`--import`, with `--expose-gc`): on SIGUSR2 garbage is collected, and a line says what is
 * left. The product itself has no such way in, and its debugger stays closed.
 */
process.on('SIGUSR2', () => {
  // Twice: the first may leave behind what finalizers let go of.
  globalThis.gc?.();
  globalThis.gc?.();
  const { rss, heapTotal, heapUsed } = process.memoryUsage();
  // Pages that V8 keeps empty for later come and go by its own rules, by thirty megabytes and more.
  process.stderr.write(`garbage collected, ${rss - (heapTotal - heapUsed)} bytes in use\n`);
});

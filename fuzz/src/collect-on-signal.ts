/**
 * Loaded into the product before it (`--import`, with `--expose-gc`): on SIGUSR2 garbage is collected, and a line says so.
 * The product itself has no such way in, and its debugger stays closed.
 */
process.on('SIGUSR2', () => {
  // Twice: the first may leave behind what finalizers let go of.
  globalThis.gc?.();
  globalThis.gc?.();
  process.stderr.write('garbage collected\n');
});

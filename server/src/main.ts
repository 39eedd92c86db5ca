// This file is read by whatever Node there is, so that one which is too old is told so: no syntax newer than `import()`.
import '../bin/require-node.cjs';

// Node opens its debugger on SIGUSR1, and whoever on this host reaches its port then reads every key in memory. The signal
// means nothing here, and is taken before the rest of the program is even loaded.
process.on('SIGUSR1', () => {});

void import('./commands/run.js').then(({ run }) => run(process.argv.slice(2)));

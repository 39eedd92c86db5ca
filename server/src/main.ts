// This file is read by whatever Node there is, so that one which is too old is told so: no syntax newer than `import()`.
import '../bin/require-node.cjs';

// Node opens its debugger on SIGUSR1, and whoever on this host reaches its port then reads every key in memory. The signal
// means nothing here, and is taken before the rest of the program is even loaded.
process.on('SIGUSR1', () => {});

// Starts the bundle that the build makes: it loads in a third of the time that its 1,500 modules take.
var program = './bundled/run.js';
void import(program).then(function start(bundle) {
  bundle.run(process.argv.slice(2));
});

// Ends the process with one line where Node is older than the product needs. Nothing else may be loaded before it, and it
// keeps to the language of Node 6: an old Node must be able to read it, and would fail on the rest with a syntax error.
'use strict';

/** As EXIT.configuration of the product, which cannot be loaded here. */
const CONFIGURATION = 78;

/** What is wrong with a version such as `v18.20.4`, by a minimum such as `>=20.19.0`; undefined where nothing is. */
function complaintAbout(version, minimum) {
  const found = numbersOf(version);
  const needed = numbersOf(minimum);
  const at = needed.findIndex((number, index) => number !== found[index]);
  if (at === -1 || found[at] > needed[at]) return undefined;
  const sentence = `strongroom: Node ${needed.join('.')} or newer is needed, and this is Node ${found.join('.')}.`;
  return `${sentence} Install it (https://nodejs.org), then run the same command again.`;
}

function numbersOf(text) {
  return /(\d+)\.(\d+)\.(\d+)/.exec(text).slice(1).map(Number);
}

const complaint = complaintAbout(process.version, require('../package.json').engines.node);
if (complaint !== undefined) {
  process.stderr.write(`${complaint}\n`);
  process.exit(CONFIGURATION);
}

exports.complaintAbout = complaintAbout;

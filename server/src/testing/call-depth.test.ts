import assert from 'node:assert/strict';
import { it } from 'node:test';
import { callDepths } from './call-depth.js';

/** Own functions from the socket to the row, at most. They may become fewer. */
const FUNCTIONS_MAX: Readonly<Record<string, number>> = {
  'PUT /tenants/self': 17,
  'GET /tokens/{id}': 16,
  'POST /tokens': 26,
};

it('a request passes no more functions of ours from the socket to its row than it did', async () => {
  const depths = await callDepths();
  for (const [name, functions] of depths)
    process.stderr.write(`${name}: ${functions.length} functions from the socket to the row\n`);
  assert.deepEqual([...depths.keys()], Object.keys(FUNCTIONS_MAX));
  for (const [name, functions] of depths) {
    assert.ok(functions.length <= (FUNCTIONS_MAX[name] ?? 0), `${name}:\n${functions.join('\n')}`);
  }
});

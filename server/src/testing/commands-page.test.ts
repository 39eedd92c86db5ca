import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { COMMANDS, loadCommands } from '../commands/catalogue.js';
import { readPage, rowsUnder } from './page-tables.js';

describe('the commands in docs/operations.md', () => {
  /** What is written as a command, and the options of it. */
  let rows: { readonly written: string; readonly options: readonly string[] }[];
  before(async () => {
    const table = rowsUnder(await readPage('docs/operations.md'), ['Command', 'Does']);
    rows = table.map(([written = '']) => ({
      written: written.replaceAll('`', ''),
      options: [...written.matchAll(/--([a-z-]+)/g)].map(([, name = '']) => name),
    }));
  });

  const rowsOf = (command: string) =>
    rows.filter(({ written }) => written === command || written.startsWith(`${command} `));

  it('are those of the help, in its order', () => {
    const names = Object.keys(COMMANDS);
    const shown = rows.map(({ written }) => names.find((name) => written === name || written.startsWith(`${name} `)));
    assert.deepEqual([...new Set(shown)], names);
  });

  it('are loaded by the words that they are called by', async () => {
    const loaded = await loadCommands();
    assert.deepEqual(
      loaded.map(({ name }) => name),
      Object.keys(COMMANDS),
    );
  });

  it('have the options of the help, all of them and no others', async () => {
    for (const { name, flags } of await loadCommands()) {
      const shown = new Set(rowsOf(name).flatMap(({ options }) => options));
      assert.deepEqual([...shown].sort(), Object.keys(flags).sort(), name);
    }
  });
});

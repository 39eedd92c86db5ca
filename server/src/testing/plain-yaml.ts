import assert from 'node:assert/strict';

/** Spaces in even steps, none at the end of a line, and a last line that ends. */
export function assertEvenlyIndented(text: string, what: string): void {
  assert.ok(text.endsWith('\n') && !text.includes('\t'), what);
  for (const line of text.split('\n')) {
    const [indent = ''] = /^ */.exec(line) ?? [];
    assert.equal(indent.length % 2, 0, `${what}: ${line}`);
    assert.ok(line === line.trimEnd(), `${what}: ${line}`);
  }
}

const PAIRS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** Brackets outside of quotes close in order, and quotes close. */
export function assertBalanced(text: string, what: string): void {
  const open: string[] = [];
  for (const [sign] of text.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '').matchAll(/[()[\]{}"]/g)) {
    const partner = PAIRS[sign];
    if (partner === undefined) open.push(sign);
    else assert.equal(open.pop(), partner, `${what}: ${sign}`);
  }
  assert.deepEqual(open, [], what);
}

/** Every key of a YAML map by its dotted path, as far as block style goes. */
export function pathsOf(yaml: string): Set<string> {
  const paths = new Set<string>();
  const stack: string[] = [];
  for (const [, indent = '', key = ''] of yaml.matchAll(/^( *)(\w+):/gm)) {
    stack.length = indent.length / 2;
    stack.push(key);
    paths.add(stack.join('.'));
  }
  return paths;
}

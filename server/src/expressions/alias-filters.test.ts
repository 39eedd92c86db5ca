import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluateText, refused } from './expressions-fixture.js';

/** Random results differ from call to call, so the two ways are held against the same pattern. */
function aliased(input: string | number, filter: string): readonly string[] {
  const plain = evaluateText(`{{ data | ${filter} }}`, input);
  const liquid = evaluateText(`{{ data["x"] | ${filter} }}`, { x: input });
  assert.ok(typeof plain === 'string' && typeof liquid === 'string');
  return [plain, liquid];
}

function assertAlias(input: string | number, filter: string, pattern: RegExp): void {
  for (const alias of aliased(input, filter)) assert.match(alias, pattern, filter);
}

describe('alias filters', () => {
  it('alias_card: random digits, spaces and dashes kept, the shown part as it is', () => {
    assertAlias('4111-1111-1111-1111', 'alias_card: false, true', /^\d{4}-\d{4}-\d{4}-1111$/);
    assertAlias('4111-1111-1111-1111', "alias_card: 'true', 'true'", /^4111-1111-\d{4}-1111$/);
    assertAlias('378282246310005', 'alias_card: true', /^378282\d{9}$/);
    assertAlias('4111 1111 1111 1111', 'alias_card', /^\d{4} \d{4} \d{4} \d{4}$/);
    assertAlias(4111111111111111, 'alias_card: false, true', /^\d{12}1111$/);
  });

  it('alias_card refuses a number no longer than the part it would show', () => {
    refused('123', 'alias_card: false, true');
    refused('1234', 'alias_card: false, true');
    refused('123456789', 'alias_card: true, true');
    refused('', 'alias_card');
  });

  it('alias_preserve_format: letters to lower-case letters, digits to digits, the rest kept', () => {
    assertAlias('AB-12', 'alias_preserve_format', /^[a-z]{2}-\d{2}$/);
    assertAlias('AB-12', 'alias_preserve_format: 1, 1', /^A[a-z]-\d2$/);
    assertAlias('É٣😀', 'alias_preserve_format', /^[a-z]\d😀$/u);
  });

  it('alias_preserve_length: every hidden character becomes a letter or digit, by code point', () => {
    assertAlias('AB-12', 'alias_preserve_length: 0, 2', /^[a-z0-9]{3}12$/);
    assertAlias('😀-😀', 'alias_preserve_length', /^[a-z0-9]{3}$/);
    assertAlias('😀-😀', 'alias_preserve_length: 1', /^😀[a-z0-9]{2}$/u);
  });

  it('an alias in which nothing would be random is refused: it would be the input', () => {
    refused('ABCD', 'alias_preserve_length: 2, 2');
    refused('ABCD', 'alias_preserve_format: 9');
    refused('--', 'alias_preserve_format');
    refused('', 'alias_preserve_length');
  });

  it('two aliases of the same input differ', () => {
    const input = 'a long enough input to be unlucky with';
    const [one, other] = aliased(input, 'alias_preserve_length');
    assert.notEqual(one, other);
    assert.notEqual(one, input);
  });
});

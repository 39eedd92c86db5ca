import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TextPiece } from './text-pieces.js';
import { joinPieces, piecesOfForm, piecesOfQuery, piecesOfText } from './text-pieces.js';

const VALUE = 'a&b=c d"';

/** With the same value in place of each expression; throws where one is not what is expected. */
function filled(pieces: readonly TextPiece[], expected: readonly string[]): string {
  const found = pieces.filter(({ isExpression }) => isExpression).map(({ text }) => text);
  assert.deepEqual(found, expected);
  return joinPieces(
    pieces,
    found.map(() => VALUE),
  );
}

describe('expressions in text', () => {
  it('of a body are replaced in place', () => {
    assert.equal(
      filled(piecesOfText('x {{ a }} y {{b | f: "}}" }}'), ['{{ a }}', '{{b | f: "}}" }}']),
      `x ${VALUE} y ${VALUE}`,
    );
    assert.equal(filled(piecesOfText('nothing'), []), 'nothing');
    assert.equal(filled(piecesOfText('{% if 1 %}{{ a }}{% endif %}'), ['{% if 1 %}{{ a }}{% endif %}']), VALUE);
  });

  it('of a form are replaced as they were written: plain ones in place, encoded ones encoded', () => {
    assert.equal(filled(piecesOfForm('n={{ a }}&m=1'), ['{{ a }}']), `n=${VALUE}&m=1`);
    assert.equal(filled(piecesOfForm('n=%7B%7B+a+%7d%7D&m=%20'), ['{{ a }}']), 'n=a%26b%3Dc%20d%22&m=%20');
  });

  it('of a query are always encoded, so that a value is never another parameter', () => {
    assert.equal(filled(piecesOfQuery('n={{a}}&m=1'), ['{{a}}']), 'n=a%26b%3Dc%20d%22&m=1');
    assert.equal(filled(piecesOfQuery('n=%7B%7Ba%7D%7D'), ['{{a}}']), 'n=a%26b%3Dc%20d%22');
    assert.equal(filled(piecesOfQuery('n=%7B%7Ba&m=%ZZ'), []), 'n=%7B%7Ba&m=%ZZ');
  });

  it('a value that no encoding has goes without what is broken of it', () => {
    assert.equal(joinPieces(piecesOfQuery('n={{a}}'), ['x\ud800y']), 'n=x%EF%BF%BDy');
  });

  it('a brace before an encoded character is no tag: queries and forms go on as they were written', () => {
    for (const text of ['filter={%22a%22:1}&b=2', 'a={%7B', '{%20if%20x%20%}']) {
      assert.equal(filled(piecesOfQuery(text), []), text);
      assert.equal(filled(piecesOfForm(text), []), text);
    }
    assert.equal(filled(piecesOfForm('f={%22a%22:1}&n={{ x }}'), ['{{ x }}']), `f={%22a%22:1}&n=${VALUE}`);
  });

  it('openings without an end are gone through once, however many there are', () => {
    const text = '%7b%7b'.repeat(800_000);
    assert.deepEqual(
      piecesOfForm(text).map(({ isExpression }) => isExpression),
      [false],
    );
  });

  it('413 for more expressions than any request could pay for, before they are taken apart', () => {
    const tooMany = { code: 'payload_too_large' };
    assert.throws(() => piecesOfText('{{a}}'.repeat(20_001)), tooMany);
    assert.throws(() => piecesOfForm('%7b%7ba%7d%7d'.repeat(20_001)), tooMany);
    assert.equal(piecesOfText('{{a}}'.repeat(20_000)).length, 20_000);
  });
});

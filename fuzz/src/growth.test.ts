// needs: processes

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GROWTH_BYTES_MAX, growthFindings } from './run.js';

const MB = 1_048_576;
const warmBytes = 100 * MB;

describe('memory that grew', () => {
  it('is no finding within its bound', () => {
    assert.deepEqual(growthFindings({ warmBytes, endBytes: warmBytes + GROWTH_BYTES_MAX }), []);
  });

  it('is one where it went on, or where nobody looked', () => {
    const endBytes = warmBytes + 60 * MB;
    assert.deepEqual(growthFindings({ warmBytes, endBytes }), ['memory grew by 60.0 MB']);
    assert.deepEqual(growthFindings({ warmBytes, endBytes, laterBytes: endBytes + 30 * MB }), [
      'memory grew by 60.0 MB, and by 30.0 MB with as many cases again',
    ]);
  });

  it('is none where it stopped', () => {
    const endBytes = warmBytes + 60 * MB;
    assert.deepEqual(growthFindings({ warmBytes, endBytes, laterBytes: endBytes + 5 * MB }), []);
  });
});

// needs: processes

import { after, before, describe } from 'node:test';
import { conventions } from './conventions.js';
import { RESOURCES } from './endpoints.js';
import { operation } from './operation.js';
import { coverage, refusals } from './refusals.js';
import type { Subject } from './subject.js';
import { openSubject } from './subject.js';
import { usage } from './usage.js';

/** One server for every endpoint: starting one costs more than all requests together. */
describe('the service', () => {
  let opened: Subject;
  before(async () => {
    opened = await openSubject();
  });
  after(() => opened.close());

  for (const { suite } of RESOURCES.filter(({ needsNoTokens }) => needsNoTokens)) suite(() => opened);
  for (const suite of [operation, conventions]) suite(() => opened);
  for (const { suite } of RESOURCES.filter(({ needsNoTokens }) => !needsNoTokens)) suite(() => opened);
  for (const suite of [usage, refusals, coverage]) suite(() => opened);
});

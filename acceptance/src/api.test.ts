import { after, before, describe } from 'node:test';
import { conventions } from './conventions.js';
import { logs } from './logs.js';
import { operation } from './operation.js';
import { permissions } from './permissions.js';
import { reports } from './reports.js';
import type { Subject } from './subject.js';
import { openSubject } from './subject.js';
import { tenants } from './tenants.js';

/** One server for every endpoint: starting one costs more than all requests together. */
describe('the service', () => {
  let opened: Subject;
  before(async () => {
    opened = await openSubject();
  });
  after(() => opened.close());

  for (const suite of [permissions, logs, tenants, reports, operation, conventions]) suite(() => opened);
});

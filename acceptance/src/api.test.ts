import { after, before, describe } from 'node:test';
import { applicationKeys } from './application-keys.js';
import { applications } from './applications.js';
import { conventions } from './conventions.js';
import { logs } from './logs.js';
import { operation } from './operation.js';
import { permissions } from './permissions.js';
import { coverage, refusals } from './refusals.js';
import { reports } from './reports.js';
import { sessions } from './sessions.js';
import type { Subject } from './subject.js';
import { openSubject } from './subject.js';
import { tenants } from './tenants.js';
import { tokenLists } from './token-lists.js';
import { tokenize } from './tokenize.js';
import { tokens } from './tokens.js';
import { usage } from './usage.js';

/** One server for every endpoint: starting one costs more than all requests together. */
describe('the service', () => {
  let opened: Subject;
  before(async () => {
    opened = await openSubject();
  });
  after(() => opened.close());

  /** Of the tenant as it was made; these want it without tokens. */
  for (const suite of [permissions, logs, tenants, reports, operation, conventions]) suite(() => opened);
  for (const suite of [applications, applicationKeys, tokens, tokenLists, tokenize, sessions, usage])
    suite(() => opened);
  for (const suite of [refusals, coverage]) suite(() => opened);
});

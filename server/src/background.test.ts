import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { backgroundJobs } from './background.js';
import { systemClock } from './kernel/clock.js';
import { createFakeClock } from './testing/fake-clock.js';
import type { TestApp } from './testing/test-app.js';
import { startTestApp } from './testing/test-app.js';
import { testVault } from './testing/test-vault.js';

const HOUR_MS = 3_600_000;

describe('background work by two clocks', () => {
  let app: TestApp;
  let key: string;
  before(async () => {
    // Its own jobs go by a clock that stands still, long before anything here ends.
    app = await startTestApp({ clock: createFakeClock(systemClock.nowMs() - HOUR_MS) });
    const tenant = await app.makeTenant();
    key = await app.makeKey(tenant.id, 'private', ['token:create', 'token:read']);
  });
  after(() => app.close());

  async function make(endsInMs: number): Promise<string> {
    const expires_at = new Date(systemClock.nowMs() + endsInMs).toISOString();
    const made = await app.call('POST', '/tokens', { key, body: { type: 'token', data: 'kept', expires_at } });
    assert.equal(made.status, 201);
    return made.json.id;
  }

  /** How many tokens a process erases whose clock is so far off. */
  async function sweepBy(offsetMs: number): Promise<number> {
    const jobs = backgroundJobs({
      database: app.database,
      vault: testVault(app),
      clock: createFakeClock(systemClock.nowMs() + offsetMs),
      logRetentionMonths: undefined,
      onLogsDropped: () => assert.fail(),
    });
    const job = jobs.find(({ name }) => name === 'token-expiry') ?? assert.fail();
    return job.step({ databaseMs: systemClock.nowMs() });
  }

  it('a process whose clock is an hour ahead erases nothing that has not ended', async () => {
    const id = await make(HOUR_MS / 2);
    assert.equal(await sweepBy(HOUR_MS), 0);
    assert.equal((await app.call('GET', `/tokens/${id}`, { key })).status, 200);
  });

  it('what has ended is erased by a process whose clock is right, and later by one whose clock is behind', async () => {
    await make(-HOUR_MS / 2);
    assert.equal(await sweepBy(-HOUR_MS), 0);
    assert.equal(await sweepBy(0), 1);
  });
});

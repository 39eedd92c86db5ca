import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { HANGS_MS } from '../testing/eventually.js';
import { createCaller } from '../testing/http-client.js';
import type { TestApp } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';
import { createMetrics } from './metrics.js';
import { listenForScrapes } from './metrics-listener.js';

const COMMENT = /^# (HELP|TYPE) ([a-z_]+) (.+)$/;
const SAMPLE = /^([a-z_]+)(?:\{((?:[a-z]+="[^"\\\n]*",?)+)\})? (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;
const HISTOGRAM_SUFFIX = /_(bucket|sum|count)$/;

/** Reads the exposition text as strictly as a scraper; gives sample by name and labels. */
function parse(text: string): Map<string, number> {
  assert.ok(text.endsWith('\n'));
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const samples = new Map<string, number>();
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, family = '', rest = ''] = COMMENT.exec(line) ?? [];
    if (kind === 'HELP') {
      assert.ok(!helped.has(family), `${family} is explained once`);
      helped.add(family);
    } else if (kind === 'TYPE') {
      assert.match(rest, /^(counter|gauge|histogram)$/);
      assert.ok(helped.has(family) && !types.has(family), line);
      types.set(family, rest);
    } else {
      const [, name = '', labels = '', value] = SAMPLE.exec(line) ?? assert.fail(`not a sample: ${line}`);
      const type = types.get(name) ?? types.get(name.replace(HISTOGRAM_SUFFIX, ''));
      assert.ok(type, `${name} has a type`);
      if (type !== 'gauge') assert.ok(Number(value) >= 0, line);
      const id = labels === '' ? name : `${name}{${labels}}`;
      assert.ok(!samples.has(id), `${id} is there once`);
      samples.set(id, Number(value));
    }
  }
  return samples;
}

const REQUESTS = 'strongroom_http_requests_total';
const SECONDS = 'strongroom_http_request_duration_seconds';

describe('metrics', () => {
  it('count requests by route and status', () => {
    const metrics = createMetrics();
    for (const status of [200, 200, 404]) metrics.observeRequest('GET /logs', status, 0.001);
    metrics.observeRequest('none', 404, 0.001);
    const samples = parse(metrics.render());
    assert.equal(samples.get(`${REQUESTS}{route="GET /logs",status="200"}`), 2);
    assert.equal(samples.get(`${REQUESTS}{route="GET /logs",status="404"}`), 1);
    assert.equal(samples.get(`${REQUESTS}{route="none",status="404"}`), 1);
  });

  it('sum durations into buckets that only rise, for any durations', () => {
    const durations = fc.array(fc.double({ min: 0, max: 120, noNaN: true }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(durations, (seconds) => {
        const metrics = createMetrics();
        for (const each of seconds) metrics.observeRequest('r', 200, each);
        const samples = parse(metrics.render());
        let below = 0;
        for (const [id, value] of samples) {
          const [, bound] = /_bucket\{route="r",le="([^"]+)"\}/.exec(id) ?? [];
          if (bound === undefined) continue;
          const limit = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound);
          assert.equal(value, seconds.filter((each) => each <= limit).length, id);
          assert.ok(value >= below);
          below = value;
        }
        assert.equal(samples.get(`${SECONDS}_count{route="r"}`), seconds.length);
        assert.equal(samples.get(`${SECONDS}_bucket{route="r",le="+Inf"}`), seconds.length);
        const sum = seconds.reduce((total, each) => total + each, 0);
        assert.ok(Math.abs((samples.get(`${SECONDS}_sum{route="r"}`) ?? Number.NaN) - sum) < 1e-6);
      }),
    );
  });

  it('read a gauge when they are asked for, not when it is added', () => {
    const metrics = createMetrics();
    let value = 1;
    metrics.addGauge({ name: 'strongroom_x', help: 'X.', type: 'gauge', read: () => value });
    value = 7;
    assert.equal(parse(metrics.render()).get('strongroom_x'), 7);
  });
});

describe('metrics of a running server', () => {
  let app: TestApp;
  let key: string;
  before(async () => {
    app = await startTestApp();
    ({ key } = await app.makeTenant());
  });
  after(() => app.close());

  const settled = async () => {
    const deadlineMs = performance.now() + HANGS_MS;
    for (;;) {
      const samples = parse(app.metrics.render());
      if (samples.get('strongroom_http_requests_in_flight') === 0) return samples;
      assert.ok(performance.now() < deadlineMs, 'requests end');
      await new Promise(setImmediate);
    }
  };

  it('move with each answer, whatever it was; HEAD counts as GET, and an unknown path has no label of its own', async () => {
    const before = await settled();
    await app.call('GET', '/tenants/self', { key });
    await app.call('HEAD', '/tenants/self', { key });
    await app.call('GET', '/tenants/self');
    await app.call('GET', '/no/such/path');
    const now = await settled();
    const moved = (route: string, status: number) => {
      const id = `${REQUESTS}{route="${route}",status="${status}"}`;
      return (now.get(id) ?? 0) - (before.get(id) ?? 0);
    };
    assert.equal(moved('GET /tenants/self', 200), 2);
    assert.equal(moved('GET /tenants/self', 401), 1);
    assert.equal(moved('none', 404), 1);
    assert.ok(![...now.keys()].some((id) => id.includes('/no/such/path') || id.includes('HEAD')));
    assert.equal(now.get(`${SECONDS}_count{route="GET /tenants/self"}`), moved('GET /tenants/self', 200) + 1);
  });

  it('tell memory, processor time, what waits for its commit and whether changes are heard', async () => {
    const samples = await settled();
    assert.ok((samples.get('strongroom_process_resident_memory_bytes') ?? 0) > 1_000_000);
    assert.ok((samples.get('strongroom_process_cpu_seconds_total') ?? 0) > 0);
    assert.equal(samples.get('strongroom_writes_pending'), 0);
    assert.equal(samples.get('strongroom_silent_servers'), 0);
    assert.equal(samples.get('strongroom_purged_rows_total'), 0);
    for (const job of ['purge', 'token-expiry', 'cvc-removal', 'application-expiry']) {
      assert.equal(samples.get(`strongroom_job_done_total{job="${job}"}`), 0);
      assert.equal(samples.get(`strongroom_job_failures_total{job="${job}"}`), 0);
    }
    assert.ok([0, 1].includes(samples.get('strongroom_changes_heard') ?? -1));
  });

  it('200 on a port of their own and 404 for anything else there; 404 where tenants are', async () => {
    const listener = await listenForScrapes(app.metrics, '127.0.0.1', 0);
    try {
      const call = createCaller(`http://127.0.0.1:${listener.port}`);
      const { status, headers, text } = await call('GET', '/metrics');
      assert.equal(status, 200);
      assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
      assert.ok(parse(text).has('strongroom_http_requests_in_flight'));
      assert.equal((await call('HEAD', '/metrics')).status, 200);
      for (const [method, path] of [
        ['POST', '/metrics'],
        ['GET', '/'],
        ['GET', '/tenants/self'],
        ['GET', '/metrics/x'],
      ]) {
        assert.equal((await call(method ?? '', path ?? '')).status, 404, `${method} ${path}`);
      }
      assert.equal((await app.call('GET', '/metrics')).status, 404);
    } finally {
      await listener.close();
    }
  });
});

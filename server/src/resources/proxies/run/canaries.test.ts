// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { generateApiKey } from '../../../access/api-key.js';
import { foundIn } from '../../../testing/canary-forms.js';
import { eventually } from '../../../testing/eventually.js';
import { everyRow } from '../../../testing/every-row.js';
import type { CanaryWorld, WireAnswer, WireCall } from './canaries-fixture.js';
import { callRaw, DEAD_PORT, digits, everythingSent, openCanaryWorld } from './canaries-fixture.js';

const TRANSFORM_BYTES_MAX = 5_242_880;

interface CanaryCall extends WireCall {
  /** An address for an ephemeral call; the destination unless told. */
  readonly url?: string;
  /** The key of a stored Proxy. */
  readonly proxy?: string;
  readonly path?: string;
  /** Through the process that waits for no destination. */
  readonly isImpatient?: true;
  /** Without an API key. */
  readonly isAnonymous?: true;
  /** Whose words the answer is in, where they are not ours. */
  readonly wordsOf?: 'destination' | 'code';
}

describe('what is secret in calls through Proxies', () => {
  let world: CanaryWorld;
  /** Every answer that was written here, whole, with the call it belongs to. */
  const ourAnswers: string[] = [];
  const proxyKeys: string[] = [];
  const proxyIds: string[] = [];
  const unknownKey = generateApiKey('private').reveal();
  const control = { plain: `control-${digits(18)}` };

  before(async () => {
    world = await openCanaryWorld();
    const { app, tenant } = world;
    const named = await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: control.plain } });
    assert.equal(named.status, 200, named.text);
  });
  after(() => world.close());

  /** A body, a header and a query with the value, and everything of ours beside it. */
  async function send(call: CanaryCall = {}): Promise<WireAnswer> {
    const { tokens, canaries, destination } = world;
    const app = call.isImpatient ? world.impatient : world.app;
    const { 'SVC-API-KEY': key = '', 'BT-API-KEY': _other, ...rest } = everythingSent(world);
    const keys: Record<string, string> = call.isAnonymous ? {} : { 'SVC-API-KEY': key, 'BT-API-KEY': key };
    const where: Record<string, string> =
      call.proxy === undefined ? { 'SVC-PROXY-URL': call.url ?? destination.url } : { 'SVC-PROXY-KEY': call.proxy };
    const query = `card=%7B%7B${tokens.value}%7D%7D&sent=${canaries.sent}`;
    const answer = await callRaw(app.port, `/proxy${call.path ?? '/ok'}?${query}`, {
      ...call,
      headers: { ...rest, ...keys, ...where, ...call.headers },
      body: call.body ?? JSON.stringify({ card: `{{ ${tokens.value} }}`, sent: canaries.sent }),
    });
    if (call.wordsOf === undefined) ourAnswers.push(JSON.stringify(answer), answer.text);
    return answer;
  }

  async function make(more: object = {}): Promise<string> {
    const { id, key } = await world.make(more);
    proxyIds.push(id);
    proxyKeys.push(key);
    return key;
  }

  async function refused(call: CanaryCall, status: number, code?: string): Promise<void> {
    const answer = await send(call);
    assert.equal(answer.status, status, answer.text);
    if (code !== undefined) assert.equal(JSON.parse(answer.text).proxy_error.code, code);
  }

  const codeOf = (body: string) => ({
    code: `/* ${world.canaries.source} */ module.exports = async (req) => { console.log('${world.canaries.printed}', req); console.error(JSON.stringify(req)); ${body} };`,
  });

  it('is what the destination gets: the value in body, header and query, and what the caller sent for it', async () => {
    const { destination, canaries } = world;
    destination.answers.set('/ok', (response) => response.end('done'));
    const answer = await send();
    assert.deepEqual([answer.status, answer.text], [200, 'done']);
    const seen = destination.last();
    assert.deepEqual(JSON.parse(seen.body), { card: canaries.value, sent: canaries.sent });
    assert.equal(Buffer.from(String(seen.headers['x-card']), 'latin1').toString(), canaries.value);
    assert.equal(new URLSearchParams(seen.url.split('?')[1]).get('card'), canaries.value);
    assert.deepEqual(foundIn(JSON.stringify(seen), { value: canaries.value, sent: canaries.sent }), ['value', 'sent']);
    const echo = await send({ path: '/echo', wordsOf: 'destination' });
    assert.deepEqual(
      foundIn(echo.text, { value: canaries.value }),
      ['value'],
      'an answer that repeats it is handed on',
    );
  });

  it('is sent where destinations break, hang, lie or are not there', async () => {
    const { destination, untrusted, plainSpoken } = world;
    destination.answers.set('/resets', (response) => response.socket?.destroy());
    destination.answers.set('/garbage', (response, { headers }) =>
      response.socket?.end(`${headers['x-card']}\r\n\r\n`),
    );
    destination.answers.set('/wordy', (response, { headers }) => {
      response
        .setHeader(
          'X-Long',
          String(headers['x-card'])
            .replace(/[^ -~]/g, '')
            .repeat(2_000),
        )
        .end();
    });
    for (const path of ['/resets', '/garbage', '/wordy']) await refused({ path }, 502, 'destination_unreachable');
    for (const url of [
      `https://127.0.0.1:${DEAD_PORT}`,
      `https://127.0.0.1:${untrusted.port}`,
      `https://127.0.0.1:${plainSpoken.port}`,
    ]) {
      await refused({ url }, 502, 'destination_unreachable');
    }
    assert.deepEqual(untrusted.seen, [], 'nothing is sent to who cannot show who it is');
    destination.answers.set('/silent', () => {});
    await refused({ path: '/silent', isImpatient: true }, 408, 'destination_timeout');
    destination.answers.set('/half', (response, { headers }) => {
      response.writeHead(200, { 'Content-Length': 100_000 });
      response.write(headers['x-card'], () => response.socket?.destroy());
    });
    assert.equal((await send({ path: '/half', wordsOf: 'destination' })).isWhole, false);
    const leaving = new AbortController();
    destination.answers.set('/left', () => leaving.abort());
    assert.equal((await send({ path: '/left', signal: leaving.signal })).status, 0);
  });

  it('is sent where the request cannot go', async () => {
    const { canaries, tokens, destination } = world;
    const { sent, number } = canaries;
    const before = destination.seen.length;
    for (const url of [
      `https://10.0.0.1/${sent}`,
      `https://${number}.inside.test`,
      `https://card-${number.replace(/(\d{4})/g, '$1-')}x.inside.test/${sent}`,
      `https://${number}.nowhere.test:8443/${sent}`,
      `http://${number}.inside.test/${sent}`,
    ]) {
      await refused({ url }, 422, 'destination_refused');
    }
    for (const url of [
      `https://${sent}:${sent}@inside.test`,
      `https://inside.test/?${sent}`,
      `https://inside.test/#${sent}`,
      `${sent}://inside.test`,
      `https://${number}`,
      sent,
    ]) {
      await refused({ url }, 400, 'malformed_request');
    }
    await refused({ path: `/../${sent}` }, 400, 'malformed_request');
    await refused({ headers: { 'X-Card': `{{ ${tokens.lines} }}` } }, 400, 'malformed_request');
    await refused({ headers: { [`X.${sent}`]: 'name' } }, 400, 'malformed_request');
    await refused({ body: `{"card":{{ ${tokens.value} }}, ${sent}` }, 400, 'malformed_json');
    await refused({ body: JSON.stringify([`{{ ${tokens.value} | ${sent} }}`]) }, 400, 'invalid_expression');
    await refused({ body: JSON.stringify([sent.repeat(200_000)]) }, 413, 'payload_too_large');
    await refused({ headers: { 'SVC-API-KEY': unknownKey, 'BT-API-KEY': unknownKey } }, 401, 'invalid_api_key');
    const weak = { 'SVC-API-KEY': world.weakKey, 'BT-API-KEY': world.weakKey };
    await refused({ headers: weak }, 403, 'permission_denied');
    await refused({ isAnonymous: true }, 401, 'missing_api_key');
    await refused({ proxy: sent }, 404, 'not_found');
    await refused({ headers: { 'Sec-Fetch-Dest': 'document' } }, 403, 'cross_site_refused');
    assert.equal(destination.seen.length, before);
  });

  it('is given to code, which prints it, throws it, returns it and sends it elsewhere', async () => {
    const { canaries, destination } = world;
    const configuration = { SETTING: canaries.setting };
    destination.answers.set('/v1/ok', (response, { headers }) =>
      response.end(Buffer.from(String(headers['x-card']), 'latin1')),
    );
    const good = await make({
      configuration,
      request_transform: codeOf('return { headers: { ...req.args.headers, "x-setting": req.configuration.SETTING } };'),
      response_transform: codeOf('return { body: "made" };'),
    });
    const answer = await send({ proxy: good });
    assert.deepEqual([answer.status, answer.text], [200, 'made']);
    assert.equal(destination.last().headers['x-setting'], canaries.setting);
    const errors = "const { BadRequestError, CustomHttpResponseError } = require('strongroom-errors');";
    const all = 'JSON.stringify([req.args, req.configuration])';
    for (const [body, status] of [
      [`throw new Error(${all});`, 500],
      [`throw Object.assign(new Error(${all}), { name: ${all}, code: ${all} });`, 500],
      [`throw ${all};`, 500],
      [`${errors} throw new BadRequestError({ [${all}]: ${all} });`, 400],
      [
        `${errors} throw new CustomHttpResponseError({ status: 418, headers: { 'X-A': encodeURIComponent(${all}) }, body: ${all} });`,
        418,
      ],
      [`return ${all};`, 500],
      [`return { headers: { 'X-A': { b: ${all} } } };`, 500],
      [`await fetch('https://10.0.0.1/' + encodeURIComponent(${all}), { method: 'POST', body: ${all} });`, 500],
      [`require(${all});`, 422],
    ] as const) {
      for (const which of ['request_transform', 'response_transform']) {
        const proxy = await make({ configuration, [which]: codeOf(body) });
        const told = await send({ proxy, wordsOf: 'code' });
        assert.equal(told.status, status, `${which} ${body}: ${told.text}`);
      }
    }
    for (const [which, value, status] of [
      ['request_transform', "req.args.headers['x-card']", 400],
      ['response_transform', 'req.args.body', 502],
    ] as const) {
      for (const headers of [`{ 'X-A': ${value} + '\\r\\n' }`, `{ [${value}]: 'a' }`]) {
        await refused({ proxy: await make({ [which]: codeOf(`return { headers: ${headers} };`) }) }, status);
      }
    }
    const invalid = await make({ request_transform: { code: `module.exports = ${canaries.source} (` } });
    assert.equal((await send({ proxy: invalid, wordsOf: 'code' })).status, 422);
    destination.answers.set('/v1/large', (response) => response.end(canaries.value.repeat(TRANSFORM_BYTES_MAX / 20)));
    await refused({ proxy: good, path: '/large' }, 502, 'destination_unreachable');
    const octets = { 'Content-Type': 'application/octet-stream' };
    const body = Buffer.concat([Buffer.from(canaries.sent), Buffer.from([0xff])]);
    await refused({ proxy: good, headers: octets, body }, 415, 'unsupported_media_type');
  });

  it('is used without an API key', async () => {
    const { caller, destination } = world;
    const open = await make({ require_auth: false, application: { id: caller.id } });
    assert.equal((await send({ proxy: open, isAnonymous: true, wordsOf: 'destination' })).status, 200);
    assert.deepEqual(foundIn(JSON.stringify(destination.last()), { value: world.canaries.value }), ['value']);
    destination.answers.set('/v1/resets', (response) => response.socket?.destroy());
    await refused({ proxy: open, isAnonymous: true, path: '/resets' }, 502);
    await refused({ proxy: await make({ require_auth: false }), isAnonymous: true }, 403, 'access_denied');
    const { tokens, canaries, app } = world;
    const inQuery = await callRaw(app.port, `/proxy/query?a=1&SVC%2dproxy-key=${open}&bt-proxy-key=${open}&b=2`, {
      headers: { Cookie: `a=1; __Host-strongroom_session=${canaries.cookie}`, 'Content-Type': 'text/plain' },
      body: `{{ ${tokens.value} }}`,
    });
    assert.deepEqual([inQuery.status, destination.last().url], [200, '/v1/query?a=1&b=2']);
    assert.equal(destination.last().body, canaries.value);
  });

  it('is sent while the log cannot be written, before and behind the destination', async () => {
    const { app, destination } = world;
    const breakLog = () => app.db.owner.query('REVOKE INSERT ON logs FROM strongroom_app');
    const mendLog = () => app.db.owner.query('GRANT INSERT ON logs TO strongroom_app');
    const before = destination.seen.length;
    await breakLog();
    await refused({}, 503, 'storage_unavailable').finally(mendLog);
    assert.equal(destination.seen.length, before, 'what has no entry is not sent');
    destination.answers.set('/breaks', (response) => void breakLog().then(() => response.socket?.destroy()));
    await refused({ path: '/breaks' }, 503, 'storage_unavailable').finally(mendLog);
    await app.db.owner.query('ALTER TABLE logs ADD CONSTRAINT planted CHECK (entity_type <> $$proxy$$) NOT VALID');
    const failed = await send().finally(() => app.db.owner.query('ALTER TABLE logs DROP CONSTRAINT planted'));
    assert.ok(failed.status >= 500, failed.text);
  });

  /** Everything secret there is: what was planted, and what the product made. */
  function secrets(): Record<string, string> {
    const { canaries, caller, weakKey, tenant } = world;
    return {
      ...canaries,
      // Whatever writes the rest of it in another way leaves these as they are.
      valueDigits: canaries.value.slice(-18),
      linesDigits: canaries.lines.slice(-18),
      ...{ callerKey: caller.key, weakKey, managerKey: tenant.key, unknownKey },
      ...Object.fromEntries(proxyKeys.map((key, at) => [`proxyKey${at}`, key])),
    };
  }

  it('is in no answer of ours', () => {
    assert.ok(ourAnswers.length > 60, `${ourAnswers.length} texts`);
    for (const answer of ourAnswers) assert.deepEqual(foundIn(answer, secrets()), [], answer);
  });

  it('is in no line of the process log and its security stream, which have each call', async () => {
    const { app, impatient } = world;
    const trace = `trace-${digits(18)}`;
    assert.equal((await send({ headers: { 'SVC-TRACE-ID': trace } })).status, 200);
    await eventually('it is logged', () => app.logLines.join('').includes(trace));
    const lines = [...app.logLines, ...impatient.logLines].join('');
    assert.deepEqual(foundIn(lines, secrets()), []);
    assert.deepEqual(foundIn(lines, { trace }), ['trace'], 'what is written there is found');
    assert.match(lines, /"stream":"security".*"event":"outbound_refused".*"host":"#\.inside\.test"/);
    assert.match(lines, /"stream":"security".*"event":"unauthenticated"/);
    for (const status of [200, 400, 401, 403, 404, 408, 413, 415, 422, 500, 502, 503]) {
      assert.match(lines, new RegExp(`"route":"POST /proxy/\\*","status":${status}`), `there is a ${status}`);
    }
  });

  it('is in no metric and no figure of a Proxy, which count each call', async () => {
    const { app, impatient, tenant } = world;
    const metrics = app.metrics.render() + impatient.metrics.render();
    assert.match(metrics, /\/proxy\/\*/);
    assert.match(metrics, /strongroom_outbound_refusals_total\{[^}]*"address"[^}]*\} [1-9]/);
    assert.deepEqual(foundIn(metrics, secrets()), []);
    let calls = 0;
    for (const id of proxyIds) {
      const { text, json } = await app.call('GET', `/proxies/${id}/metrics`, { key: tenant.key });
      calls += json.total.calls;
      assert.deepEqual(foundIn(text, secrets()), []);
    }
    assert.ok(calls >= proxyIds.length);
  });

  it('is in no entry of the audit log, which has each call', async () => {
    const { app, tenant } = world;
    let [text, path]: [string, string | undefined] = ['', '/logs?size=100&include=details'];
    const trace = `trace-${digits(18)}`;
    await send({ headers: { 'SVC-TRACE-ID': trace } });
    while (path !== undefined) {
      const page = await app.call('GET', path, { key: tenant.key });
      assert.equal(page.status, 200, page.text);
      text += page.text;
      const next: string | undefined = page.json.pagination.after;
      path = next === undefined ? undefined : `/logs?size=100&include=details&start=${encodeURIComponent(next)}`;
    }
    assert.deepEqual(foundIn(text, secrets()), []);
    assert.deepEqual(foundIn(text, { trace }), ['trace'], 'what is written there is found');
    for (const message of ['Proxy invoked', 'Proxy invocation failed', 'Token used in proxy', 'Request denied']) {
      assert.ok(text.includes(message), message);
    }
  });

  it('is in no row of any table in the clear', async () => {
    const { app, tenant } = world;
    await eventually('figures are written', async () => {
      const { rows } = await app.db.owner.query('SELECT 1 FROM proxy_figures WHERE tenant_id = $1', [tenant.id]);
      return rows.length > 0;
    });
    const tables = JSON.stringify(await everyRow(app));
    assert.deepEqual(foundIn(tables, secrets()), []);
    assert.deepEqual(foundIn(tables, control), ['plain'], 'what is written there is found');
  });

  it('of ours never got to the destination: no key, cookie, header or id, but the trace id', () => {
    const { destination, canaries, caller, tenant, tokens, weakKey } = world;
    const ours: Record<string, string> = {
      ...Object.fromEntries(proxyKeys.map((key, at) => [`proxyKey${at}`, key])),
      ...Object.fromEntries(proxyIds.map((id, at) => [`proxyId${at}`, id])),
      ...{ callerKey: caller.key, callerId: caller.id, weakKey, managerKey: tenant.key, unknownKey },
      ...{ tenantId: tenant.id, ownerId: tenant.ownerId, valueId: tokens.value, linesId: tokens.lines },
      ...{ cookie: canaries.cookie, cookieName: '__Host-strongroom_session', printed: canaries.printed },
      ...{ source: canaries.source, gate: 'of-the-gate', inside: 'inside.test', client: '10.1.2.3' },
    };
    assert.ok(destination.seen.length > 20, `${destination.seen.length} requests`);
    assert.deepEqual(foundIn(JSON.stringify(destination.seen), ours), []);
    const names = new Set(
      destination.seen
        .flatMap(({ rawHeaders }) => rawHeaders.filter((_, at) => at % 2 === 0))
        .map((name) => name.toLowerCase()),
    );
    assert.deepEqual(
      [...names].filter((name) => /^(svc|bt|x-forwarded|x-real|proxy|sec|forwarded|via|strongroom)\b/.test(name)),
      ['svc-trace-id'],
    );
    const cookies = new Set(destination.seen.map(({ headers }) => headers.cookie));
    assert.deepEqual([...cookies].sort(), ['a=1', 'first=1; last=2']);
    const settings = destination.seen.filter(
      (one) => foundIn(JSON.stringify(one), { at: canaries.setting }).length > 0,
    );
    assert.ok(settings.length > 0 && settings.every(({ headers }) => headers['x-setting'] === canaries.setting));
  });
});

describe('the search for secrets', () => {
  const value = `say "hi" <é> /%+&: ${digits(18)}`;
  const json = JSON.stringify({ a: value });
  for (const [form, text] of Object.entries({
    'as it is': `x${value}x`,
    'in JSON': json,
    'in JSON within JSON': JSON.stringify({ line: json }),
    'in an address': `/a?b=${encodeURIComponent(value)}`,
    'in a form': new URLSearchParams({ a: value }).toString(),
    'in bytes read one by one': Buffer.from(value).toString('latin1'),
    'in a hex dump': Buffer.from(`ab${value}`).toString('hex'),
    ...Object.fromEntries(
      ['', 'a', 'ab'].map((lead) => [
        `in base 64 behind ${lead.length}`,
        Buffer.from(`${lead}${value}z`).toString('base64'),
      ]),
    ),
    'in base 64 for addresses': Buffer.from(value).toString('base64url'),
  })) {
    it(`finds one ${form}`, () => assert.deepEqual(foundIn(`before ${text} behind`, { value }), ['value']));
  }
  it('finds none where there is none', () => assert.deepEqual(foundIn(json, { other: `${value}1` }), []));
});

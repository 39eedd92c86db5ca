import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { generateApiKey } from '../access/api-key.js';
import { generateRootKey } from '../crypto/root-key.js';
import { HANGS_MS } from '../testing/eventually.js';
import type { TestApp } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';
import { describeError } from './describe-error.js';
import { createProcessLog } from './process-log.js';

const CANARY = 'canary-5b1f0c9e';

/** Sends bytes and gives everything that came back until the server hung up. */
function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let text = '';
    const timer = setTimeout(() => reject(new Error(`the server did not hang up; so far: ${text}`)), HANGS_MS);
    const finish = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.once('error', finish);
    socket.once('close', finish);
    socket.write(bytes, 'latin1');
  });
}

function message(line: string, headers: readonly string[], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body, 'latin1')}`];
  return `${[`${line} HTTP/1.1`, 'Connection: close', ...headers, ...length].join('\r\n')}\r\n\r\n${body}`;
}

type Plant = (secret: string, key: string) => string;

const HOST = 'Host: a';
const inHeader =
  (name: string): Plant =>
  (secret, key) =>
    message('GET /tenants/self', [HOST, `SVC-API-KEY: ${key}`, `${name}: ${secret}`]);
const inTarget =
  (write: (secret: string) => string): Plant =>
  (secret, key) =>
    message(`GET ${write(secret)}`, [HOST, `SVC-API-KEY: ${key}`]);
const inBody =
  (write: (secret: string) => string, type = 'application/json'): Plant =>
  (secret, key) =>
    message('PUT /tenants/self', [HOST, `SVC-API-KEY: ${key}`, `Content-Type: ${type}`], write(secret));

/** Every place a client can reach. */
const PLACES: Readonly<Record<string, Plant>> = {
  'the key header alone': (secret) => message('GET /tenants/self', [HOST, `SVC-API-KEY: ${secret}`]),
  'two key headers': (secret) => message('GET /logs', [HOST, `SVC-API-KEY: ${secret}`, `SVC-API-KEY: ${secret}`]),
  'a key header under another prefix': (secret) => message('GET /logs', [HOST, `BT-API-KEY: ${secret}`]),
  'a bearer token': (secret) => message('GET /logs', [HOST, `Authorization: Bearer ${secret}`]),
  'a basic credential': (secret) => message('GET /logs', [HOST, `Authorization: Basic ${secret}`]),
  'X-API-Key': inHeader('X-API-Key'),
  'a cookie': inHeader('Cookie'),
  'the tenant header': inHeader('SVC-TENANT-ID'),
  'the idempotency header': inHeader('SVC-IDEMPOTENCY-KEY'),
  'the proxy key header': inHeader('SVC-PROXY-KEY'),
  'the user agent': inHeader('User-Agent'),
  'the referrer': inHeader('Referer'),
  'the origin': inHeader('Origin'),
  'X-Forwarded-For': inHeader('X-Forwarded-For'),
  Forwarded: inHeader('Forwarded'),
  'the expectation': inHeader('Expect'),
  'a header of its own name': (secret) => message('GET /openapi.json', [HOST, `${secret}: 1`]),
  'a header that is not valid': (secret) => message('GET /openapi.json', [HOST, `Bad ${secret}: 1`]),
  'a header too long': (secret) => message('GET /openapi.json', [HOST, `X: ${secret.repeat(600)}`]),
  'the host': (secret) => message('GET /nothing', [`Host: ${secret}`]),
  'two hosts': (secret) => message('GET /nothing', [`Host: ${secret}`, `Host: ${secret}`]),
  'the method': (secret) => message(`${secret} /openapi.json`, [HOST]),
  'the version': (secret) => `GET /openapi.json ${secret}\r\n${HOST}\r\n\r\n`,
  'a target without slash': (secret) => message(`GET ${secret}`, [HOST]),
  'a whole address': (secret) => message(`GET http://${secret}/`, [HOST]),
  'an unknown path': inTarget((secret) => `/${secret}`),
  'a path below a known one': inTarget((secret) => `/tenants/self/${secret}`),
  'a path that cannot be decoded': inTarget((secret) => `/tenants/%zz${secret}`),
  'a wrong method on a path with a query': (secret) => message(`POST /logs?a=${secret}`, [HOST]),
  'a parameter nobody knows': inTarget((secret) => `/logs?${secret}=1`),
  'an entity id': inTarget((secret) => `/logs?entity_id=${secret}`),
  'a cursor': inTarget((secret) => `/logs?start=${secret}`),
  'a page size': inTarget((secret) => `/logs?size=${secret}`),
  'a date': inTarget((secret) => `/logs?start_date=${secret}`),
  'an application type': inTarget((secret) => `/permissions?application_type=${secret}`),
  'a query that cannot be decoded': inTarget((secret) => `/logs?entity_id=%zz${secret}`),
  'a body of another type': inBody((secret) => secret, 'text/plain'),
  'the content type': (secret, key) =>
    message('PUT /tenants/self', [HOST, `SVC-API-KEY: ${key}`, `Content-Type: ${secret}`], '{"name":"n"}'),
  'a body that is not JSON': inBody((secret) => `{"name": ${secret}`),
  'a body that is only a string': inBody((secret) => JSON.stringify(secret)),
  'a body that is not UTF-8': inBody((secret) => `{"name":"${secret}\xff"}`),
  'a body nested too deep': inBody((secret) => `${'['.repeat(70)}"${secret}"`),
  'a name too long': inBody((secret) => JSON.stringify({ name: secret.repeat(30) })),
  'a name of the wrong type': inBody((secret) => JSON.stringify({ name: [secret] })),
  'a field nobody knows': inBody((secret) => JSON.stringify({ [secret]: secret })),
  'the value of a setting': inBody((secret) => JSON.stringify({ name: 'n', settings: { fingerprint_tokens: secret } })),
};

/** Places whose content is the client's own, and goes back to that client alone. */
const ECHOED: Readonly<Record<string, Plant>> = {
  'the name of the tenant': inBody((secret) => JSON.stringify({ name: secret })),
  'the name of a setting': inBody((secret) => JSON.stringify({ name: 'n', settings: { [secret]: 'true' } })),
  'the headers a preflight asks for': (secret) =>
    message('OPTIONS /logs', [HOST, 'Access-Control-Request-Method: GET', `Access-Control-Request-Headers: ${secret}`]),
};

describe('secrets sent to the wrong place', () => {
  let app: TestApp;
  let key: string;
  /** Of a tenant whose name may be a secret. */
  let namesake: string;
  let namesakeId: string;
  let credentials: readonly string[];
  let markers = 0;
  before(async () => {
    app = await startTestApp({ env: { STRONGROOM_AUDIT: 'full' } });
    ({ key } = await app.makeTenant());
    ({ key: namesake, id: namesakeId } = await app.makeTenant());
    const unknown = generateApiKey('private').reveal();
    const misspelt = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    credentials = [key, unknown, misspelt, `key_ses_${'aB3'.repeat(10)}xY`, generateRootKey().reveal()];
  });
  after(() => app.close());

  /** Lines go out in order, so everything before a request of our own is there once that one is. */
  async function logged(): Promise<string[]> {
    markers += 1;
    const marker = `marker-${markers}`;
    await app.call('GET', '/openapi.json', { headers: { 'SVC-TRACE-ID': marker } });
    const deadlineMs = performance.now() + HANGS_MS;
    const isThere = () => app.logLines.some((text) => text.includes(`"${marker}"`));
    while (!isThere() || !/^strongroom_http_requests_in_flight 0$/m.test(app.metrics.render())) {
      assert.ok(performance.now() < deadlineMs, 'every request ends and is logged');
      await new Promise(setImmediate);
    }
    return app.logLines.join('').split('\n');
  }

  async function assertUnwritten(secret: string): Promise<void> {
    const line = (await logged()).find((text) => text.includes(secret));
    assert.equal(line, undefined);
    assert.ok(!app.metrics.render().includes(secret), 'not in the metrics');
  }

  for (const [place, plant] of Object.entries(PLACES)) {
    it(`never logged and never sent back from ${place}`, async () => {
      for (const secret of [...credentials, CANARY]) {
        const answer = await exchange(app.port, plant(secret, key));
        assert.match(answer, /^HTTP\/1\.1 [245]/);
        assert.ok(!answer.includes(secret), answer);
        await assertUnwritten(secret);
      }
    });
  }

  for (const [place, plant] of Object.entries(ECHOED)) {
    it(`never logged from ${place}, which only its sender sees again`, async () => {
      for (const secret of [...credentials, CANARY]) {
        await exchange(app.port, plant(secret, namesake));
        await assertUnwritten(secret);
      }
    });
  }

  it('never logged and never echoed from the trace id header, where any other text would be', async () => {
    for (const secret of credentials) {
      for (const traceId of [secret, `trace-${secret}-1`]) {
        const answer = await exchange(app.port, inHeader('SVC-TRACE-ID')(traceId, key));
        assert.ok(!answer.includes(secret), answer);
        await assertUnwritten(secret);
      }
    }
  });

  it('never in an audit row, with every read and refusal audited', async () => {
    const secrets = [...credentials, CANARY];
    const plants = [...Object.values(PLACES), ...Object.values(ECHOED)];
    for (const secret of secrets) await Promise.all(plants.map((plant) => exchange(app.port, plant(secret, namesake))));
    const { rows } = await app.db.owner.query('SELECT logs::text AS row FROM logs WHERE tenant_id = $1', [namesakeId]);
    assert.ok(rows.length > secrets.length, 'rows were written');
    const found = rows.filter(({ row }) => secrets.some((secret) => row.includes(secret)));
    assert.deepEqual(found, []);
  });

  it('500 when the database refuses a value: neither the answer nor the log quotes the row', async () => {
    await app.db.owner.query(`ALTER TABLE tenants ADD CONSTRAINT planted CHECK (name <> '${CANARY}') NOT VALID`);
    const headers = { 'SVC-TRACE-ID': 'refused-by-the-database' };
    const { status, json, text } = await app
      .call('PUT', '/tenants/self', { key: namesake, body: { name: CANARY }, headers })
      .finally(() => app.db.owner.query('ALTER TABLE tenants DROP CONSTRAINT planted'));
    assert.equal(status, 500);
    assert.equal(json.code, 'internal_error');
    assert.doesNotMatch(text, /planted|constraint|tenants|PostgreSQL|\bat \//i);
    await assertUnwritten(CANARY);
    const story = (await logged()).find((line) => line.includes('refused-by-the-database') && line.includes('"err"'));
    assert.equal(JSON.parse(story ?? '{}').err.message, 'PostgreSQL answered ERROR 23514');
  });
});

describe('errors on their way to the log', () => {
  const secrets = [
    generateApiKey('public').reveal(),
    generateApiKey('management').reveal(),
    generateRootKey().reveal(),
  ];

  /** As the driver makes them: a sentence and a detail that quote values, a severity and a code. */
  function databaseError(sentence: string): Error {
    const fields = { severity: 'ERROR', code: '22P02', detail: sentence, where: sentence, internalQuery: sentence };
    return Object.assign(new Error(sentence), fields);
  }

  it('are scrubbed of keys in the message, the causes and the stack', () => {
    for (const secret of secrets) {
      const inner = new Error(`inner ${secret}`);
      const outer = new Error(`outer ${secret}, and again ${secret}`, { cause: new Error(secret, { cause: inner }) });
      const story = describeError(outer);
      assert.ok(!JSON.stringify(story).includes(secret));
      assert.match(story.message, /^outer .*\[redacted\], and again .*\[redacted\]$/);
      assert.match(story.stack ?? '', /secrecy\.test/, 'where it happened is still told');
    }
  });

  it('are reduced to severity and code when PostgreSQL answered, whatever the sentence says', () => {
    const sentences = fc.oneof(
      fc.string({ minLength: 12 }).map((text) => `${CANARY}${text}`),
      fc.constantFrom(`first line\n    at ${CANARY}`, `Error: x\n    at ${CANARY} (file.js:1:1)\n`),
    );
    fc.assert(
      fc.property(sentences, (sentence) => {
        const story = describeError(new Error('outer', { cause: databaseError(sentence) }));
        assert.equal(story.cause?.message, 'PostgreSQL answered ERROR 22P02');
        assert.equal(story.cause.code, '22P02');
        assert.ok(!JSON.stringify(story).includes(CANARY));
      }),
    );
  });

  it('tell nothing of a thrown value that is no error', () => {
    for (const thrown of [CANARY, { secret: CANARY }, [CANARY]]) {
      assert.ok(!JSON.stringify(describeError(thrown)).includes(CANARY));
    }
  });

  it('end, even when a cause leads back to itself', () => {
    const error = new Error('round');
    error.cause = error;
    assert.ok(JSON.stringify(describeError(error)).length < 50_000);
  });

  it('reach the line scrubbed, and so does whatever a careless caller adds', () => {
    const lines: string[] = [];
    const destination = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    const log = createProcessLog({ level: 'trace', destination });
    const careless = { key: CANARY, apiKey: CANARY, password: CANARY, cookie: CANARY, headers: { a: CANARY } };
    log.main.info({ ...careless, request: { ...careless, body: CANARY } }, 'careless');
    log.security.warn({ err: databaseError(CANARY), secret: CANARY }, 'careless');
    assert.equal(lines.length, 2);
    assert.ok(!lines.join('').includes(CANARY));
    assert.equal(JSON.parse(lines[1] ?? '{}').stream, 'security');
  });
});

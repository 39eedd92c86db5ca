import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { readConfig } from '../config.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { listenForScrapes } from '../telemetry/metrics-listener.js';
import type { ProcessLog } from '../telemetry/process-log.js';
import { createProcessLog } from '../telemetry/process-log.js';
import { baseAddress, listen, sayReady } from './listening.js';

/** What an operator reads when this cannot be listened on. */
async function refusal(
  env: Readonly<Record<string, string>>,
  setting: 'port' | 'metricsPort',
  open: () => Promise<unknown>,
): Promise<string> {
  const outcome = await listen(open, readConfig(env), setting).catch((error: unknown) => error);
  assert.ok(outcome instanceof ExitError, `not refused: ${String(outcome)}`);
  assert.equal(outcome.exitCode, EXIT.unavailable);
  return outcome.message;
}

const failWith = (code: string) => async (): Promise<never> => {
  throw Object.assign(new Error(code), { code });
};

const really = (host: string, port: number) => () => listenForScrapes({ render: () => '' }, host, port);

describe('a listener that cannot be opened', () => {
  it('ENOTFOUND says that the name has no address, and nothing of a port that is taken', async () => {
    const host = 'http://localhost';
    const shown = await refusal({ STRONGROOM_HOST: host }, 'port', really(host, 0));
    assert.match(shown, /^Cannot listen on http:\/\/localhost port 8080 \((ENOTFOUND|EAI_AGAIN)\)\. /);
    assert.match(shown, /no address.*STRONGROOM_HOST.*without http:\/\//);
    assert.doesNotMatch(shown, /process|STRONGROOM_PORT/);
  });

  it('EADDRNOTAVAIL says that this machine has not that address', async () => {
    const shown = await refusal({ STRONGROOM_HOST: '192.0.2.1' }, 'port', really('192.0.2.1', 0));
    assert.match(shown, /^Cannot listen on 192\.0\.2\.1 port 8080 \(EADDRNOTAVAIL\)\. /);
    assert.match(shown, /has that address.*STRONGROOM_HOST/);
    assert.doesNotMatch(shown, /process|STRONGROOM_PORT/);
  });

  it('EADDRINUSE says that another process is there, and which setting picks another port', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    try {
      const address = taken.address();
      const port = typeof address === 'object' && address !== null ? address.port : assert.fail('it listens');
      const env = { STRONGROOM_PORT: String(port), STRONGROOM_METRICS_PORT: String(port) };
      const api = await refusal(env, 'port', really('127.0.0.1', port));
      assert.match(api, /\(EADDRINUSE\)\. Another process.* STRONGROOM_PORT/);
      const metrics = await refusal(env, 'metricsPort', really('127.0.0.1', port));
      assert.match(metrics, /\(EADDRINUSE\)\. Another process.* STRONGROOM_METRICS_PORT/);
    } finally {
      taken.close();
    }
  });

  it('EACCES says who may listen below 1024, and elsewhere that the system does not let this user', async () => {
    const low = await refusal({ STRONGROOM_PORT: '80' }, 'port', failWith('EACCES'));
    assert.match(low, /\(EACCES\)\. .*below 1024.*STRONGROOM_PORT/);
    assert.doesNotMatch(low, /nother process/);
    const high = await refusal({ STRONGROOM_PORT: '8080' }, 'port', failWith('EACCES'));
    assert.match(high, /does not let this user/);
    assert.doesNotMatch(high, /1024/);
  });

  it('any other fault names both settings, those of the listener that failed', async () => {
    const env = { STRONGROOM_METRICS_PORT: '9464' };
    const shown = await refusal(env, 'metricsPort', failWith('EINVAL'));
    assert.match(shown, /STRONGROOM_METRICS_HOST.*STRONGROOM_METRICS_PORT/);
  });
});

describe('an IPv6 host in brackets, as in an address', () => {
  it('is taken as the host itself, and shown in brackets in the address of the API', () => {
    const config = readConfig({ STRONGROOM_HOST: '[::1]', STRONGROOM_METRICS_HOST: '[fe80::1%lo]' });
    assert.deepEqual([config.host, config.metricsHost], ['::1', 'fe80::1%lo']);
    assert.equal(baseAddress(config.host, 8080), 'http://[::1]:8080');
    assert.equal(baseAddress('::', 8080), 'http://localhost:8080');
  });

  it('counts as loopback in production, and any other does not', () => {
    const production = { STRONGROOM_ENV: 'production' };
    assert.equal(readConfig({ ...production, STRONGROOM_HOST: '[::1]' }).host, '::1');
    assert.throws(() => readConfig({ ...production, STRONGROOM_HOST: '[::]' }), /STRONGROOM_TLS_IN_FRONT/);
  });

  it('brackets around anything else are refused with what to write', () => {
    for (const host of ['[127.0.0.1]', '[localhost]', '[::1', '[::1]:8080']) {
      assert.throws(() => readConfig({ STRONGROOM_HOST: host }), /STRONGROOM_HOST .*such as 127\.0\.0\.1 or ::1/);
    }
  });
});

it('the line that says ready waits for no others', () => {
  const lines: string[] = [];
  let flushed = -1;
  const log: ProcessLog = {
    ...createProcessLog({ level: 'info', destination: { write: (line) => void lines.push(line) } }),
    flush: async () => {
      flushed = lines.length;
    },
  };
  sayReady(log, { address: 'http://127.0.0.1:8080', rootKeyId: 'rk-1' });
  assert.match(lines.join(''), /"address":"http:\/\/127\.0\.0\.1:8080".*"msg":"ready"/);
  assert.equal(flushed, 1);
});

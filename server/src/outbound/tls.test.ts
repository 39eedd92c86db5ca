import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { SecureVersion, TLSSocket } from 'node:tls';
import { rootCertificates } from 'node:tls';
import { certificatesIn } from '@strongroom/test-servers/certificates.js';
import { readAuthorities } from './authorities-file.js';
import { trustedAuthorities } from './connect.js';
import type { Listening, Way } from './outbound-fixture.js';
import { bodyText, failureFrom, listening, wayOut } from './outbound-fixture.js';

const NAMES = { 'public.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'] };

describe('destinations that speak TLS', () => {
  let folder: string;
  let authorities: readonly string[];
  const opened: (Pick<Listening, 'close'> | Way)[] = [];
  before(async () => {
    folder = await mkdtemp('/tmp/sr-outbound-tls-');
    const certificates = certificatesIn(folder);
    await certificates.makeAuthority('authority');
    await certificates.makeAuthority('stranger');
    await certificates.makeCertificate('good', 'authority', 'public.test', 'DNS:public.test,DNS:*.wild.test');
    await certificates.makeCertificate('address', 'authority', 'x', 'IP:127.0.0.1');
    await certificates.makeCertificate('unknown', 'stranger', 'public.test', 'DNS:public.test');
    await certificates.makeCertificate('expired', 'authority', 'public.test', 'DNS:public.test', -1);
    authorities = readAuthorities(certificates.file('authority.pem'));
  });
  after(async () => {
    for (const one of opened) await one.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function serve(name: string, versions: { minVersion?: SecureVersion; maxVersion?: SecureVersion } = {}) {
    const [key, cert] = await Promise.all(['key', 'pem'].map((ending) => readFile(`${folder}/${name}.${ending}`)));
    const options = { key, cert, ...versions, ciphers: 'DEFAULT@SECLEVEL=0' };
    const server = await listening(
      createHttpsServer(options, (request, response) => {
        const { servername, alpnProtocol } = request.socket as TLSSocket; // The server speaks TLS alone.
        response.end(JSON.stringify({ servername, alpnProtocol }));
      }),
    );
    opened.push(server);
    return server;
  }

  function wayTo({ port }: Pick<Listening, 'port'>, trusted: readonly string[] = authorities): Way {
    const way = wayOut({ allow: [`127.0.0.1:${port}`], names: NAMES, authorities: trusted });
    opened.push(way);
    return way;
  }

  it('200 for a certificate for the name by an authority of the operator; the name is announced', async () => {
    const server = await serve('good');
    const answer = await wayTo(server).get(`https://public.test:${server.port}/`);
    assert.deepEqual(JSON.parse(await bodyText(answer)), { servername: 'public.test', alpnProtocol: 'http/1.1' });
  });

  it('200 for an address in the certificate, which is not announced', async () => {
    const server = await serve('address');
    const answer = await wayTo(server).get(`https://127.0.0.1:${server.port}/`);
    assert.deepEqual(JSON.parse(await bodyText(answer)), { servername: false, alpnProtocol: 'http/1.1' });
  });

  for (const [why, certificate, host] of [
    ['is for another name', 'good', 'other.test'],
    ['is for a name and the URL has the address', 'good', '127.0.0.1'],
    ['has expired', 'expired', 'public.test'],
    ['is by an authority nobody trusts', 'unknown', 'public.test'],
  ] as const) {
    it(`untrusted when the certificate ${why}, and no request is sent`, async () => {
      const server = await serve(certificate);
      const way = wayTo(server);
      const failure = await failureFrom(way.get(`https://${host}:${server.port}/`));
      assert.equal(failure.code, 'untrusted', failure.systemCode);
      assert.match(failure.systemCode ?? '', /CERT|ISSUER|SIGNATURE/);
      assert.equal(way.figure('requests_total', 'untrusted'), 1);
    });
  }

  it('untrusted when the operator names no authority: the platform’s own are not these', async () => {
    const server = await serve('good');
    const failure = await failureFrom(wayTo(server, []).get(`https://public.test:${server.port}/`));
    assert.equal(failure.code, 'untrusted');
  });

  it('the platform’s own authorities stay trusted beside those of the operator', () => {
    assert.deepEqual(trustedAuthorities(authorities), [...rootCertificates, ...authorities]);
    assert.equal(trustedAuthorities([]), undefined);
  });

  it('NODE_TLS_REJECT_UNAUTHORIZED=0 changes nothing', async () => {
    const server = await serve('unknown');
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      assert.equal((await failureFrom(wayTo(server).get(`https://public.test:${server.port}/`))).code, 'untrusted');
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });

  it('200 with TLS 1.2, unreachable with less', async () => {
    const older = await serve('good', { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' });
    assert.equal((await wayTo(older).get(`https://public.test:${older.port}/`)).status, 200);
    const oldest = await serve('good', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' });
    assert.equal((await failureFrom(wayTo(oldest).get(`https://public.test:${oldest.port}/`))).code, 'unreachable');
  });

  it('unreachable when it speaks plain HTTP, timeout when it does not speak', async () => {
    const plain = await listening(createTcpServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n')));
    opened.push(plain);
    assert.equal((await failureFrom(wayTo(plain).get(`https://public.test:${plain.port}/`))).code, 'unreachable');
    const silent = await listening(createTcpServer(() => {}));
    opened.push(silent);
    const failure = await failureFrom(
      wayTo(silent).get(`https://public.test:${silent.port}/`, { bounds: { connectMs: 50 } }),
    );
    assert.equal(failure.code, 'timeout');
  });

  it('a file of authorities without a readable certificate is a fault', () => {
    assert.throws(() => readAuthorities(`${folder}/authority.key`), /does not hold certificates/);
    assert.throws(() => readAuthorities(`${folder}/none.pem`), /cannot be read \(ENOENT\)/);
  });
});

// needs: processes

import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { unless } from '@strongroom/test-servers/find.js';
import { readConfig, SETTINGS } from '../config.js';
import { KEEP_ALIVE_SECONDS } from '../http/transport/listener.js';
import { parseTrustedProxies } from '../limits/client-address.js';
import type { Block } from './page-blocks.js';
import { blocksOf, fileIn } from './page-blocks.js';
import { startPageProduct } from './page-product.js';
import { readPage } from './page-tables.js';
import { assertBalanced, assertEvenlyIndented, pathsOf } from './plain-yaml.js';
import { exchange } from './raw-http.js';
import type { TestApp } from './test-app.js';
import { startTestApp } from './test-app.js';

const PAGE = 'docs/deploy.md';
const ROOT = new URL('../../../', import.meta.url);
const BODY_BYTES_MAX = 1_048_576;
const ARRIVAL_SECONDS_MAX = 30;
const PORT = SETTINGS.port.default;
/** Lists of the operator's own, whose entries are Kubernetes' and not the chart's. */
const FREE_LISTS = /^networkPolicy\.(callers|scrapers)\./;

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

describe(PAGE, () => {
  let page: string;
  let blocks: Block[];
  let app: TestApp;
  before(async () => {
    [page, blocks, app] = await Promise.all([readPage(PAGE), blocksOf(PAGE), startTestApp()]);
  });
  after(() => app?.close());

  const shell = (): string =>
    blocks
      .filter(({ language }) => language === 'sh')
      .map(({ text }) => text)
      .join('\n');
  const haproxy = (): string => blocks.find(({ language }) => language === 'haproxy')?.text ?? assert.fail('HAProxy');
  const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found = '']) => found);
  const chart = (name: string): Promise<string> => readFile(new URL(`deploy/helm/strongroom/${name}`, ROOT), 'utf8');

  it('speaks of no setting that does not exist, and its values can be set', () => {
    const known = new Map(Object.values(SETTINGS).map((row) => [row.name as string, row]));
    for (const name of all(page, /\b(STRONGROOM_[A-Z_]*[A-Z])\b/g)) assert.ok(known.has(name), name);
    const exported = [...shell().matchAll(/^export (STRONGROOM_\w+)=(\S+)$/gm)].map(([, ...entry]) => entry);
    assert.ok(exported.length > 3);
    const tls = { STRONGROOM_TLS_IN_FRONT: 'yes', STRONGROOM_ENV: 'production' };
    for (const [name = '', value] of exported) readConfig({ ...tls, [name]: value });
  });

  it('names proxies that can be trusted', () => {
    const values = fileIn(blocks, 'vault-values.yaml');
    const lists = [
      ...all(page, /STRONGROOM_TRUSTED_PROXIES=(\S+)/g),
      ...all(values, /^trustedProxies: (.+)$/gm),
      ...all(page, /both kinds, without brackets: `([^`]+)`/g),
    ];
    assert.equal(lists.length, 3);
    for (const list of lists) parseTrustedProxies(list.split(','));
  });

  it('has times and sizes that fit ours: idle connections end at the proxy, answers and refusals get out', async () => {
    const nginx = await readFile(new URL('deploy/nginx/nginx.conf', ROOT), 'utf8');
    const inRow = (what: string) =>
      page.split('\n').find((line) => line.startsWith(`| ${what} |`)) ?? assert.fail(what);
    assert.match(
      inRow('Idle connections to a node'),
      new RegExp(`less than ${KEEP_ALIVE_SECONDS} s .* ${KEEP_ALIVE_SECONDS} s`),
    );
    const idle = [
      ...all(nginx, /^ *keepalive_timeout (\d+)s;/gm),
      ...all(page, /upstream-keepalive-timeout` of that controller below (\d+)/g).map(
        (bound) => `${Number(bound) - 1}`,
      ),
      ...all(page, /timeout_seconds`, (\d+) s unless set/g),
    ].map(Number);
    assert.equal(idle.length, 3);
    for (const seconds of idle) assert.ok(seconds < KEEP_ALIVE_SECONDS, `${seconds} s`);
    const answer = [
      ...all(haproxy(), /^ *timeout server (\d+)s$/gm),
      ...all(nginx, /proxy_read_timeout (\d+)s;/g),
      ...all(page, /proxy-read-timeout: "(\d+)"/g),
      ...all(inRow('Time for an answer'), /\| (\d+) s or more/g),
    ].map(Number);
    assert.equal(answer.length, 4);
    for (const seconds of answer) assert.ok(seconds > ARRIVAL_SECONDS_MAX, `${seconds} s`);
    const mebibytes = [...all(nginx, /client_max_body_size (\d+)m;/g), ...all(page, /proxy-body-size: (\d+)m/g)];
    assert.equal(mebibytes.length, 2);
    for (const size of mebibytes) assert.ok(Number(size) * BODY_BYTES_MAX > BODY_BYTES_MAX);
  });

  it('has nodes on the port of the service, and checks that answer 200 as they are sent', async () => {
    const ports = all(page, /^ *server \S+ \S+:(\d+) check$/gm);
    assert.ok(ports.length > 1);
    for (const port of ports) assert.equal(port, PORT);
    const checks = all(haproxy(), /option httpchk (GET \S+)$/gm);
    assert.ok(checks.length > 0);
    for (const check of checks) {
      const [answer] = await exchange(app.port, `${check} HTTP/1.0\r\n\r\n`, 1);
      assert.equal(answer?.status, 200, check);
    }
    for (const path of new Set(all(page, /path `([^`]+)`/g)))
      assert.equal((await app.call('GET', path)).status, 200, path);
    const [unread] = await exchange(
      app.port,
      'PROXY TCP4 192.0.2.7 10.0.4.11 50123 8080\r\nGET /readyz HTTP/1.1\r\n\r\n',
      1,
    );
    assert.equal(unread?.status, 400, 'the PROXY protocol is not understood');
  });

  it('gives the chart values it has, under names it has, and secrets it looks for', async () => {
    const [defaults, values] = [await chart('values.yaml'), fileIn(blocks, 'vault-values.yaml')];
    const known = pathsOf(defaults);
    for (const path of pathsOf(values)) {
      const [first, setting = ''] = path.split('.');
      if (first === 'settings' && setting !== '')
        assert.ok(Object.values(SETTINGS).some(({ name }) => name === setting));
      else assert.ok(known.has(path) || FREE_LISTS.test(path), path);
    }
    for (const path of all(page, /`((?:networkPolicy|existingSecret)\.\w+)`/g)) assert.ok(known.has(path), path);
    assert.match(values, /^tlsInFront: "(yes|no)"$/m);
    for (const key of ['databaseUrlKey', 'rootKeyKey', 'redisUrlKey', 'bootstrapApiKeyKey']) {
      const [name = ''] = all(defaults, new RegExp(`^ *${key}: (\\S+)$`, 'gm'));
      assert.match(shell(), new RegExp(`--from-(literal|file)=${name}=`), key);
    }
    const secrets = all(shell(), /create secret generic (\S+)/g);
    assert.deepEqual(secrets, all(defaults, /xistingSecret:\n +name: (\S+)/g));
    assert.match(shell(), /--from-literal=migration-database-url=/);
  });

  it('has an Ingress that leads to the service of the release it installs', async () => {
    const [[, release = '', folder = '', namespace = '', file = ''] = []] = shell().matchAll(
      /^helm install (\S+) (\S+) -n (\S+) -f (\S+)$/gm,
    );
    assert.ok((await stat(new URL(`${folder}/Chart.yaml`, ROOT))).isFile());
    fileIn(blocks, file);
    const ingress = fileIn(blocks, 'vault-ingress.yaml');
    assert.match(ingress, new RegExp(`\\n  namespace: ${namespace}\\n`));
    const [, service, port] = /service:\n +name: (\S+)\n +port:\n +name: (\S+)/.exec(ingress) ?? [];
    assert.equal(service, release, 'the chart names its service after the release');
    const templates = await chart('templates/service.yaml');
    assert.match(templates, new RegExp(`name: ${port}, port: \\{\\{ \\.Values\\.service\\.port`));
    assert.match(templates, /name: \{\{ include "strongroom\.name" \. \}\}-metrics/);
    for (const name of all(page, /`(strongroom-metrics)`/g)) assert.equal(name, `${release}-metrics`);
    for (const text of [ingress, fileIn(blocks, file)]) {
      assertEvenlyIndented(text, text);
      assertBalanced(text, text);
    }
  });

  it('is reached over IPv6 where it says so', { skip: unless(hasIpv6 || undefined, 'IPv6') }, async () => {
    const [host = ''] = all(shell(), /^export STRONGROOM_HOST=(::\S*)$/gm);
    const [path = ''] = all(shell(), /^curl -s 'http:\/\/\[::1\]:8080(\/\w+)'$/gm);
    const both = await startPageProduct({ STRONGROOM_HOST: host });
    try {
      const { port } = new URL(both.served.address);
      for (const address of ['[::1]', '127.0.0.1']) {
        assert.equal((await fetch(`http://${address}:${port}${path}`)).status, 200, address);
      }
    } finally {
      await both.close();
    }
    const one = await startPageProduct({ STRONGROOM_HOST: '::1' });
    try {
      assert.match(one.served.address, /^http:\/\/\[::1\]:\d+$/);
      assert.equal((await fetch(one.served.address + path)).status, 200);
      await assert.rejects(fetch(`http://127.0.0.1:${new URL(one.served.address).port}${path}`));
    } finally {
      await one.close();
    }
    const production = { STRONGROOM_ENV: 'production' };
    assert.throws(() => readConfig({ ...production, STRONGROOM_HOST: host }), { exitCode: 78 });
    readConfig({ ...production, STRONGROOM_HOST: '::1' });
  });
});

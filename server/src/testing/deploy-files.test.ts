// needs: processes

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '@strongroom/test-servers/programs.js';
import { readConfig, SETTINGS } from '../config.js';
import { readSmallSecretFile } from '../crypto/small-secret-file.js';
import { VERSION } from '../version.js';
import { assertBalanced, assertEvenlyIndented, pathsOf } from './plain-yaml.js';
import type { TestApp } from './test-app.js';
import { startTestApp } from './test-app.js';

const ROOT = new URL('../../../', import.meta.url);
const CHART = 'deploy/helm/strongroom';
const DASHBOARD = 'deploy/grafana/strongroom.json';
const ALERTS = 'deploy/prometheus/alerts.yaml';
const NGINX = 'deploy/nginx/nginx.conf';
const METRIC = /\bstrongroom_[a-z_]+\b/g;

/** What was never run must say so where it is read first. */
const UNTRIED = ['compose.yaml', NGINX, ALERTS, DASHBOARD, `${CHART}/Chart.yaml`, `${CHART}/values.yaml`];

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

describe('the deployment files', () => {
  let app: TestApp;
  let templates: string[] = [];
  before(async () => {
    // Every part switched on, so that every metric is there; nobody has to answer.
    const url = `redis://127.0.0.1:${await freePort()}`;
    const replica = { socketDir: '/nowhere', port: 1, user: 'nobody', database: 'none' };
    app = await startTestApp({ env: { STRONGROOM_RATE_LIMITS: 'on', STRONGROOM_REDIS_URL: url }, replica });
    const names = await readdir(fileURLToPath(new URL(`${CHART}/templates`, ROOT)));
    templates = names.map((name) => `${CHART}/templates/${name}`);
    assert.ok(templates.length > 5);
  });
  after(() => app.close());

  const textOf = (path: string): Promise<string> => readFile(new URL(path, ROOT), 'utf8');
  const yamlFiles = (): string[] => [
    'compose.yaml',
    ALERTS,
    `${CHART}/Chart.yaml`,
    `${CHART}/values.yaml`,
    ...templates,
  ];

  it('name only metrics that a running server shows, and most of those', async () => {
    const shown = new Set([...app.metrics.render().matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name]) => name ?? ''));
    const named = new Set<string>();
    for (const path of [DASHBOARD, ALERTS]) {
      for (const [name] of (await textOf(path)).matchAll(METRIC)) {
        const family = name.replace(/_(bucket|sum|count)$/, '');
        assert.ok(shown.has(family), `${path}: ${name} exists`);
        named.add(family);
      }
    }
    assert.ok(named.size >= 12, `${named.size} metrics are looked at`);
  });

  it('set only variables that are settings', async () => {
    const known = new Set(Object.values(SETTINGS).map(({ name }) => name));
    for (const path of yamlFiles()) {
      for (const [name] of (await textOf(path)).matchAll(/\bSTRONGROOM_[A-Z_]+\b/g)) {
        assert.ok(known.has(name), `${path}: ${name} is a setting`);
      }
    }
  });

  it('have a dashboard of panels that each ask something', async () => {
    // A fault here is one of the file, and shows in the lines below.
    const { panels } = JSON.parse(await textOf(DASHBOARD)) as Dashboard;
    assert.ok(panels.length >= 12);
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    for (const { title, targets } of panels) {
      assert.ok(targets.length > 0, title);
      for (const { expr } of targets) assertBalanced(expr, title);
    }
  });

  it('have alerts with a severity, a summary and what to do', async () => {
    const rules = (await textOf(ALERTS)).split(/^ {6}- alert: /m).slice(1);
    assert.ok(rules.length >= 8);
    for (const rule of rules) {
      assert.match(rule, /^\w+\n/);
      for (const part of [/severity: (critical|warning)/, /^ {10}summary: .+\.$/m, /^ {10}action: .+\.$/m]) {
        assert.match(rule, part);
      }
      assertBalanced(/expr: (.+)/.exec(rule)?.[1] ?? assert.fail(rule), rule);
    }
  });

  it('are indented by spaces in even steps, with brackets and quotes that close', async () => {
    for (const path of yamlFiles()) {
      const text = await textOf(path);
      assertEvenlyIndented(text, path);
      assertBalanced(text.replaceAll(/^\s*#.*$/gm, ''), path);
      for (const [, alias] of text.matchAll(/: \*(\w+)$/gm)) assert.ok(text.includes(`&${alias}`), `${path}: ${alias}`);
    }
  });

  it('have templates whose blocks end, whose helpers exist and whose values are given', async () => {
    const values = pathsOf(await textOf(`${CHART}/values.yaml`));
    const helpers = [...(await textOf(`${CHART}/templates/_helpers.tpl`)).matchAll(/define "([^"]+)"/g)];
    const defined = new Set(helpers.map(([, name]) => name));
    for (const path of templates) {
      const text = await textOf(path);
      const opened = [...text.matchAll(/\{\{-? *(if|with|range|define)\b/g)].length;
      assert.equal([...text.matchAll(/\{\{-? *end\b/g)].length, opened, `${path}: every block ends`);
      for (const [, name] of text.matchAll(/include "([^"]+)"/g)) assert.ok(defined.has(name), `${path}: ${name}`);
      for (const [, value = ''] of text.matchAll(/\.Values\.([\w.]+)/g)) {
        assert.ok(values.has(value), `${path}: ${value} has a default`);
      }
    }
  });

  it('have a chart of this release', async () => {
    const chart = await textOf(`${CHART}/Chart.yaml`);
    assert.ok(chart.includes(`\nversion: ${VERSION}\n`) && chart.includes(`\nappVersion: "${VERSION}"\n`));
  });

  it('trust the proxy of the compose file and nobody else, and spread over both of its nodes', async () => {
    const [compose, nginx] = await Promise.all([textOf('compose.yaml'), textOf(NGINX)]);
    const [, trusted] = /STRONGROOM_TRUSTED_PROXIES: (\S+)/.exec(compose) ?? [];
    const [, proxy] = /ipv4_address: ([\d.]+)/.exec(compose) ?? [];
    assert.ok(trusted !== undefined && trusted === proxy);
    for (const node of ['api-1', 'api-2']) {
      assert.ok(compose.includes(`\n  ${node}: *api\n`));
      assert.ok(nginx.includes(`server ${node}:8080 `));
    }
  });

  it('give the root key as a file, which only the service can read, and never as a variable', async () => {
    const [compose, deployment] = await Promise.all([
      textOf('compose.yaml'),
      textOf(`${CHART}/templates/deployment.yaml`),
    ]);
    for (const text of [compose, deployment, await textOf(`${CHART}/templates/migration-job.yaml`)]) {
      assert.doesNotMatch(text, /\bSTRONGROOM_ROOT_KEY\b/);
    }
    assert.match(compose, /STRONGROOM_ROOT_KEY_FILE: \/run\/secrets\/root\.key\n/);
    assert.match(compose, /\nsecrets:\n {2}root\.key:\n {4}file: /);
    assert.match(deployment, /name: STRONGROOM_ROOT_KEY_FILE, value: \/run\/strongroom\/root\.key /);
    // The secret itself is open to whoever mounts it, so that is the container that copies it, and no other.
    assert.equal([...deployment.matchAll(/name: mounted-secret, mountPath/g)].length, 1);
  });

  it('copy files of the secret so that the service alone reads them, as production asks for', async () => {
    const deployment = await textOf(`${CHART}/templates/deployment.yaml`);
    const [, words = ''] = /\n {10}command:\n((?: {12}\S.*\n)+)/.exec(deployment) ?? [];
    const command = [...words.matchAll(/^ {12}- (\S+)$/gm)].map(([, word = '']) => word);
    const folder = await mkdtemp(join(tmpdir(), 'sr-chart-'));
    try {
      const [from, to] = [join(folder, 'mounted'), join(folder, 'copied')];
      await Promise.all([mkdir(from), mkdir(to)]);
      const [program = '', ...given] = command;
      const inFolder = given.map((word) =>
        word.replace('/run/secrets/strongroom', from).replace('=/run/strongroom', `=${to}`),
      );
      const names = inFolder.filter((word) => word.startsWith(from)).map((word) => basename(word));
      assert.deepEqual(names, ['root.key', 'oidc-issuers.json', 'owner-password']);
      for (const name of names) await writeFile(join(from, name), `secret of ${name}\n`, { mode: 0o444 });
      await promisify(execFile)(program, inFolder);
      for (const name of names) {
        const { text, isOpenToOthers } = await readSmallSecretFile(join(to, name));
        assert.deepEqual([text.reveal(), isOpenToOthers], [`secret of ${name}`, false]);
        assert.match(deployment, new RegExp(`_FILE, value: /run/strongroom/${name} `));
        assert.match(deployment, new RegExp(`, path: ${name} `));
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('set what people need in the chart only where it is given, and no secret of it as a value', async () => {
    const [deployment, values, policy] = await Promise.all([
      textOf(`${CHART}/templates/deployment.yaml`),
      textOf(`${CHART}/values.yaml`),
      textOf(`${CHART}/templates/network-policy.yaml`),
    ]);
    for (const value of ['smtpUrlKey', 'oidcIssuersKey', 'ownerPasswordKey', 'portalUrl', 'mailFrom', 'ownerEmail']) {
      assert.match(values, new RegExp(`\n *${value}: ""\n`));
    }
    for (const [condition, name, from] of [
      ['with .Values.portalUrl', 'STRONGROOM_PORTAL_URL', 'value: {{ . | quote }}'],
      ['with .Values.existingSecret.smtpUrlKey', 'STRONGROOM_SMTP_URL', 'key: {{ . }} }'],
      ['with .Values.existingSecret.smtpUrlKey', 'STRONGROOM_MAIL_FROM', 'value: {{ required "mailFrom must be set'],
      ['if .Values.existingSecret.oidcIssuersKey', 'STRONGROOM_OIDC_ISSUERS_FILE', 'value: /run/strongroom/'],
      ['if .Values.existingSecret.ownerPasswordKey', 'STRONGROOM_OWNER_EMAIL', 'value: {{ required "ownerEmail must'],
      ['if .Values.existingSecret.ownerPasswordKey', 'STRONGROOM_OWNER_PASSWORD_FILE', 'value: /run/strongroom/'],
    ] as const) {
      const blocks = deployment.split('{{- end }}').filter((block) => block.includes(`{{- ${condition} }}`));
      const block = blocks.find((text) => text.includes(`name: ${name}`)) ?? assert.fail(`${name} under ${condition}`);
      assert.ok(block.slice(block.indexOf(`name: ${name}`)).includes(from), name);
    }
    assert.match(policy, /if \.Values\.existingSecret\.smtpUrlKey \}\}\n.*networkPolicy\.smtpPort/);
    assert.match(policy, /with \.Values\.networkPolicy\.issuerDestinations \}\}\n {4}- ports: \[\{ port: 443, /);
  });

  it('take what people need in the compose file from the operator, files as secrets', async () => {
    const compose = await textOf('compose.yaml');
    const node = compose.slice(0, compose.indexOf('\nservices:'));
    const image = /STRONGROOM_HOST=(\S+)/.exec(await textOf('Dockerfile'))?.[1];
    const own = { STRONGROOM_HOST: image, STRONGROOM_BOOTSTRAP_API_KEY: '' };
    const unset = readConfig({ ...variablesOf(node), ...own });
    assert.deepEqual(
      [unset.portalUrl, unset.smtpUrl, unset.mailFrom, unset.oidcIssuers, unset.ownerEmail, unset.ownerPasswordFile],
      Array.from({ length: 6 }, () => undefined),
    );
    const folder = await mkdtemp(join(tmpdir(), 'sr-compose-'));
    try {
      await writeFile(join(folder, 'oidc-issuers.json'), '[]');
      const given = {
        STRONGROOM_PORTAL_URL: 'https://vault.example.com',
        STRONGROOM_SMTP_URL: 'smtps://robot:word@mail.example.com',
        STRONGROOM_MAIL_FROM: 'vault@example.com',
        STRONGROOM_OWNER_EMAIL: 'owner@example.com',
        OIDC_ISSUERS_FILE: './oidc-issuers.json',
        FIRST_OWNER_PASSWORD_FILE: './owner-password',
      };
      const env: Record<string, string | undefined> = { ...variablesOf(node, given), ...own };
      const inside = env.STRONGROOM_OIDC_ISSUERS_FILE ?? '';
      const config = readConfig({ ...env, STRONGROOM_OIDC_ISSUERS_FILE: inside.replace('/run/secrets', folder) });
      assert.deepEqual(
        [config.portalUrl, config.smtpUrl?.reveal(), config.mailFrom, config.ownerEmail, config.ownerPasswordFile],
        [...Object.values(given).slice(0, 4), '/run/secrets/owner-password'],
      );
      assert.deepEqual(config.oidcIssuers, []);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    assert.match(node, /\n {2}secrets: \[root\.key, oidc-issuers\.json, owner-password\]\n/);
    assert.match(compose, /\n {2}oidc-issuers\.json:\n {4}file: \$\{OIDC_ISSUERS_FILE:-\/dev\/null\}\n/);
    assert.match(compose, /\n {2}owner-password:\n {4}file: \$\{FIRST_OWNER_PASSWORD_FILE:-\/dev\/null\}\n/);
  });

  it('trust nobody and declare no TLS by default in the chart, which says what to set', async () => {
    const [values, notes, deployment] = await Promise.all([
      textOf(`${CHART}/values.yaml`),
      textOf(`${CHART}/templates/NOTES.txt`),
      textOf(`${CHART}/templates/deployment.yaml`),
    ]);
    assert.match(values, /\ntrustedProxies: ""\n/);
    assert.match(values, /\ntlsInFront: ""\n/);
    assert.match(notes, /trustedProxies is empty: .* Set it to the addresses of your ingress alone/s);
    assert.match(deployment, /value: \{\{ required "tlsInFront must be/);
  });

  it('show metrics to nobody by default in the chart', async () => {
    const policy = await textOf(`${CHART}/templates/network-policy.yaml`);
    assert.match(await textOf(`${CHART}/values.yaml`), /\n {2}scrapers: \[\]\n/);
    // The rule is there only where somebody is named.
    assert.match(policy, /\{\{- with \.Values\.networkPolicy\.scrapers \}\}\n {4}- ports: \[\{ port: metrics, /);
    assert.equal([...policy.matchAll(/port: metrics/g)].length, 1);
  });

  it('start in production with what they set, as far as it is about ways in the clear', async () => {
    const compose = await textOf('compose.yaml');
    const node = variablesOf(compose.slice(0, compose.indexOf('\nservices:')));
    const migrate = variablesOf(compose.slice(compose.indexOf('\n  migrate:'), compose.indexOf('\n  postgres:')));
    // What the image sets, and what stands in the operator's own file.
    const image = /STRONGROOM_HOST=(\S+)/.exec(await textOf('Dockerfile'))?.[1];
    const own = { STRONGROOM_HOST: image, STRONGROOM_BOOTSTRAP_API_KEY: '' };
    for (const env of [node, migrate]) assert.equal(readConfig({ ...env, ...own }).env, 'production');
    for (const name of ['STRONGROOM_TLS_IN_FRONT', 'STRONGROOM_DATABASE_TLS', 'STRONGROOM_REDIS_TLS']) {
      assert.throws(() => readConfig({ ...node, ...own, [name]: '' }), { exitCode: 78 }, name);
    }
  });

  it('probe paths that answer', async () => {
    const deployment = await textOf(`${CHART}/templates/deployment.yaml`);
    const paths = [...deployment.matchAll(/httpGet: \{ path: (\S+),/g)].map(([, path = '']) => path);
    assert.deepEqual([...new Set(paths)].sort(), ['/healthz', '/readyz']);
    for (const path of paths) assert.equal((await app.call('GET', path)).status, 200);
  });

  it('say that nobody has tried them', async () => {
    for (const path of UNTRIED) assert.match(await textOf(path), /Untried/, path);
  });
});

/** What a part of the compose file sets, with words in place of what the operator has to fill in. */
function variablesOf(yaml: string, given: Readonly<Record<string, string>> = {}): Record<string, string> {
  const found = yaml.matchAll(/^ +(STRONGROOM_[A-Z_]+): "?([^"\n]+)"?$/gm);
  const filled = (_: string, name: string, sign: string, word: string): string => {
    if (sign === ':?') return 'word';
    const value = given[name] ?? '';
    return sign === ':+' && value !== '' ? word : value;
  };
  return Object.fromEntries(
    [...found].map(([, name, value = '']) => [name, value.replaceAll(/\$\{(\w+)(:[?+-])([^}]*)\}/g, filled)]),
  );
}

// needs: curl

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { placePreparedData } from '@strongroom/test-servers/prepared-data.js';
import { freePort } from '@strongroom/test-servers/programs.js';
import { generateRootKey } from '../crypto/root-key.js';
import { launch } from './command-runner.js';
import { START_HANGS_MS } from './eventually.js';
import type { Answer, Call } from './http-client.js';
import { createCaller } from './http-client.js';
import type { Example, ExampleStep } from './page-examples.js';
import { Bindings, examplesIn, unfolded } from './page-examples.js';
import type { PaymentProvider } from './payment-provider.js';
import { startPaymentProvider } from './payment-provider.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const ON_THE_PAGE = 'http://127.0.0.1:8080';
const PORTAL_ON_THE_PAGE = 'http://localhost:8080';
const PROVIDER_ON_THE_PAGE = 'http://127.0.0.1:9400';
const SECURE_PROVIDER_ON_THE_PAGE = 'https://localhost:9443';
const COMMAND_MS = 60_000;
const TOKEN_RIGHTS = ['token:create', 'token:read', 'token:search', 'token:update', 'token:delete'];

interface World {
  readonly url: string;
  /** The payment provider that stands in on this machine. */
  readonly provider: Pick<PaymentProvider, 'url' | 'secureUrl'>;
  readonly call: Call;
  readonly firstKey: string;
  readonly folder: string;
  /** Runs the operator's command line, or anything else a reader would type. */
  shell(command: string): Promise<string>;
}

const NOT_RUN_MAX = 4;

describe('the examples of the pages come out as they are printed', () => {
  for (const page of ['README.md', ...pagesIn('docs')]) {
    const markdown = readFileSync(join(ROOT, page), 'utf8');
    const steps = examplesIn(page, markdown);
    if (steps.length === 0) continue;
    it(page, async () => {
      const isTour = page === 'README.md';
      const { world, greeting, stop } = await start(isTour ? 'root key beside the data' : 'root key of its own');
      try {
        const bindings = bindingsIn(world);
        if (isTour) assert.equal(bindings.mismatch(greetingIn(markdown), greeting.trim()), undefined, greeting);
        const variables = isTour ? {} : await keysOf(world, world.firstKey);
        assert.deepEqual(await follow(world, steps, bindings, variables), []);
      } finally {
        await stop();
      }
    });
  }

  it('all but a few, which say why they are not run', () => {
    const steps = ['README.md', ...pagesIn('docs')].flatMap((page) =>
      examplesIn(page, readFileSync(join(ROOT, page), 'utf8')),
    );
    const examples = steps.filter((step) => 'command' in step);
    const notRun = new Set(examples.flatMap(({ notRun: reason }) => reason ?? []));
    assert.ok(examples.length > 40);
    assert.ok(notRun.size <= NOT_RUN_MAX, [...notRun].join('\n'));
  });
});

function pagesIn(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.md'));
  return names.sort().map((name) => `${folder}/${name}`);
}

/** The README begins with what the first start prints. */
function greetingIn(markdown: string): string {
  const [, shown = ''] = /```\n(Welcome to Strongroom\.[^`]+)```/.exec(markdown) ?? [];
  return shown.trim();
}

/** On an empty folder, as a reader begins. */
async function start(
  how: 'root key beside the data' | 'root key of its own',
): Promise<{ world: World; greeting: string; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-examples-'));
  const bin = join(folder, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'strongroom'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  await chmod(join(bin, 'strongroom'), 0o755);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const provider = await startPaymentProvider();
  const keyFile = join(folder, 'root.key');
  await writeFile(keyFile, generateRootKey().reveal(), { mode: 0o600 });
  const settings = {
    STRONGROOM_DATA_DIR: join(folder, 'data'),
    STRONGROOM_PORT: String(port),
    ...provider.env,
    ...(how === 'root key of its own' && { STRONGROOM_ROOT_KEY_FILE: keyFile }),
  };
  placePreparedData(settings);
  const child = launch(settings, 'serve');
  const ended = new Promise((resolve) => child.once('close', resolve));
  const greeting = await new Promise<string>((resolve, reject) => {
    let printed = '';
    const notReady = () => reject(new Error(`not ready: ${printed}`));
    const timer = setTimeout(notReady, START_HANGS_MS);
    void ended.then(notReady);
    child.stderr?.on('data', (chunk) => {
      printed += String(chunk);
    });
    child.stdout?.on('data', (chunk) => {
      printed += String(chunk);
      if (!printed.includes('"msg":"ready"')) return;
      clearTimeout(timer);
      // The lines of its log stand between.
      resolve(printed.replaceAll(/^\{.*\}\n/gm, ''));
    });
  });
  const [firstKey = ''] = /key_mgt_\w+/.exec(greeting) ?? [];
  const shell = async (command: string): Promise<string> => {
    const env = { ...process.env, ...settings, PATH: `${bin}:${process.env.PATH}`, NO_COLOR: '1' };
    const options = { cwd: folder, env, timeout: COMMAND_MS };
    // What goes to standard error is part of what a reader sees, and a failure is.
    return (await promisify(execFile)('sh', ['-c', `exec 2>&1\n${command}\n`], options).catch(failed)).stdout;
  };
  return {
    greeting,
    world: { url, provider, call: createCaller(url), firstKey, folder, shell },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await provider.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function failed(error: { readonly code?: unknown; readonly stdout?: string }): { readonly stdout: string } {
  return { stdout: `${error.stdout}(ended with ${error.code})` };
}

function bindingsIn({ folder, url, provider }: World): Bindings {
  const bindings = new Bindings();
  bindings.place(PROVIDER_ON_THE_PAGE, provider.url);
  bindings.place(SECURE_PROVIDER_ON_THE_PAGE, provider.secureUrl);
  bindings.place(ON_THE_PAGE, url);
  bindings.place(PORTAL_ON_THE_PAGE, url.replace('127.0.0.1', 'localhost'));
  bindings.place('/srv', folder);
  bindings.place('/backup', join(folder, 'backups'));
  return bindings;
}

/** What a page takes for granted: keys of every kind, made with the first one of a tenant. */
async function keysOf({ call }: Pick<World, 'call'>, KEY: string): Promise<Variables> {
  const make = async (body: object): Promise<string> => {
    const { status, json } = await call('POST', '/applications', { key: KEY, body });
    assert.equal(status, 201, JSON.stringify(json));
    return json.key;
  };
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }];
  const SEE = await make({ name: 'Sees', type: 'private', permissions: TOKEN_RIGHTS, rules });
  return {
    KEY,
    APP: await make({ name: 'Works', type: 'private', permissions: TOKEN_RIGHTS }),
    SEE,
    PRIVATE_KEY: SEE,
    PUBLIC_KEY: await make({ name: 'In browsers', type: 'public', permissions: ['token:create'] }),
  };
}

interface Tenant extends Variables {
  readonly id: string;
}

async function makeTenant(world: World): Promise<Tenant> {
  const id = (await world.shell(`strongroom tenant create --name 'Another tenant'`)).trim();
  const { json: permissions } = await world.call('GET', '/permissions?application_type=management', {
    key: world.firstKey,
  });
  const given = permissions.map(({ type }: { type: string }) => `--permission ${type}`).join(' ');
  const made = await world.shell(`strongroom application create --tenant ${id} --type management ${given} --json`);
  return { id, ...(await keysOf(world, JSON.parse(made).key)) };
}

function make({ call }: World, key = '', body: object): Promise<Answer> {
  return call('POST', Array.isArray(body) ? '/tokenize' : '/tokens', { key, body });
}

type Variables = Readonly<Record<string, string>>;

/**
 * What examples need that no example before them made, by the name a page gives it. What it returns holds for the examples
 * of one block.
 */
const SETUPS: Readonly<Record<string, (world: World, bindings: Bindings, page: Variables) => Promise<Variables>>> = {
  'a tenant of its own': makeTenant,
  'a tenant with two cards and a token': async (world) => {
    const tenant = await makeTenant(world);
    const card = { type: 'card', data: { number: '4242424242424242' } };
    for (const body of [card, { data: 'Ada' }, card]) await make(world, tenant.APP, body);
    return tenant;
  },
  'the token customer-7': async (world, _bindings, { APP }) => {
    await make(world, APP, { id: 'customer-7', data: 'Ada' });
    return {};
  },
  'a second card': async (world, _bindings, { APP }) => {
    await make(world, APP, { type: 'card', data: { number: '4111111111111111' } });
    return {};
  },
  'a session that waits': async ({ call }, bindings, { PUBLIC_KEY = '' }) => {
    const { json } = await call('POST', '/sessions', { key: PUBLIC_KEY });
    bindings.bind('4fJ0w3bVYw8mQ1xZr7TnKe', json.nonce);
    return {};
  },
  'a tenant with 500 tokens, and an empty one': async (world, bindings) => {
    const [full, empty] = [await makeTenant(world), await makeTenant(world)];
    for (let made = 0; made < 500; made += 100) await make(world, full.APP, Array(100).fill('x'));
    bindings.bind('ca4964cf-7728-45d6-89b5-0d894024b3ef', full.id);
    bindings.bind('41b4e7d0-7b6a-4b9b-b287-330adf55cf7e', empty.id);
    return {};
  },
  'a deleted tenant': async (world, bindings) => {
    const { id, KEY = '' } = await makeTenant(world);
    bindings.bind('c2f1c1de-6d0a-4a0e-8a52-0c35b1a7d9f4', id);
    assert.equal((await world.call('DELETE', '/tenants/self', { key: KEY })).status, 204);
    return {};
  },
};

/** Does all that a page says, and tells what did not come out as it is printed there. */
async function follow(
  world: World,
  steps: readonly ExampleStep[],
  bindings: Bindings,
  given: Variables,
): Promise<string[]> {
  const failures: string[] = [];
  const lines = assignmentsOf(given);
  let ofBlock: string[] = [];
  for (const step of steps) {
    if ('assignment' in step) lines.push(bindings.apply(step.assignment));
    else if (step.notRun === undefined) {
      if (step.isFirst) ofBlock = [];
      if (step.isFirst && step.setup !== undefined) {
        const setUp = SETUPS[step.setup] ?? assert.fail(`there is no setup ${step.setup}`);
        ofBlock = assignmentsOf(await setUp(world, bindings, given));
      }
      const failure = await run(world, step, bindings, [...lines, ...ofBlock]);
      if (failure !== undefined) failures.push(`${step.page}:${step.line} ${failure}`);
    }
  }
  return failures;
}

function assignmentsOf(variables: Variables): string[] {
  return Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
}

async function run(
  world: World,
  { command, output }: Example,
  bindings: Bindings,
  lines: readonly string[],
): Promise<string | undefined> {
  const typed = bindings.apply(command);
  if (/…|<[a-z]+>/.test(typed)) return 'leaves something for the reader to fill in';
  const printed = (await world.shell(`${lines.join('\n')}\n${typed}`)).trim();
  if (output === undefined) return FAILURE.test(printed) ? `fails:\n${printed}` : undefined;
  const wanted = mismatch(output, printed, bindings);
  return wanted === undefined ? undefined : `is answered with\n${printed}\nand not with\n${wanted}`;
}

const FAILURE = /"type":"urn:strongroom:problem:|\(ended with \d+\)$/;
const HEAD = /^HTTP\/1\.1 /;

/** Of the head of an answer pages show what matters, in any order. */
function mismatch(output: string, printed: string, bindings: Bindings): string | undefined {
  if (!HEAD.test(output)) return bindings.mismatch(/^[{[]/.test(output) ? unfolded(output) : output, printed);
  const [[shownHead = '', shownBody = ''], [head = '', body = '']] = [parted(output), parted(printed)];
  for (const line of shownHead.split('\n')) {
    const name = line.slice(0, line.indexOf(':'));
    const same = head.split('\n').find((each) => each.startsWith(HEAD.test(line) ? 'HTTP' : `${name}:`)) ?? '';
    const wanted = bindings.mismatch(line, same);
    if (wanted !== undefined) return wanted;
  }
  return shownBody === '' ? undefined : bindings.mismatch(unfolded(shownBody), body);
}

function parted(answer: string): string[] {
  return answer.replaceAll('\r', '').split('\n\n');
}

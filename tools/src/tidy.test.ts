import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { globFiles } from './files.js';
import type { Source } from './sources.js';
import { isTest, readSources, roomOf } from './sources.js';

/** Rooms from right to left. A file imports from its own room or from one with a lower number. */
const RANK: Readonly<Record<string, number>> = {
  kernel: 0,
  storage: 1,
  crypto: 2,
  tables: 2.5,
  access: 3,
  audit: 3,
  limits: 3,
  telemetry: 3,
  jobs: 3,
  expressions: 3,
  sandbox: 3,
  mail: 3.1,
  'kept-answers': 3.2,
  vault: 3.5,
  outbound: 3.5,
  people: 3.7,
  http: 4,
  workers: 4,
  resources: 5,
  rotation: 5.5,
  transfer: 5.5,
  version: 0.5,
  'in-the-clear': 5.8,
  config: 6,
  core: 7,
  'request-telemetry': 7.5,
  'rate-counting': 7.5,
  background: 7.5,
  caches: 7.5,
  'security-log': 7.5,
  'tenant-code': 7.5,
  'people-parts': 7.6,
  'first-start': 8,
  app: 8,
  commands: 9,
  main: 10,
};
/** `resources.ts`, the list of slices, shares its name with the room it lists. */
const LIST_OF_SLICES = 'resources.ts';

/** Slices that may use another slice, through its index. */
const SLICE_PAIRS: readonly string[] = [
  'activity -> logs',
  'activity -> portal',
  'activity -> reports',
  'application-pages -> applications',
  'application-pages -> portal',
  'application-templates -> applications',
  'definitions -> applications',
  'invitations -> members',
  'log-streams -> logs',
  'log-streams -> portal',
  'portal -> invitations',
  'portal -> members',
  'portal -> tenants',
  'proxies -> reactors',
  'reactors -> tokens',
  'sessions -> applications',
  'tenants -> members',
  'token-pages -> portal',
];

/** What several slices share, which is no slice: those may use any of its files. */
const SHARED_FOLDERS: Readonly<Record<string, readonly string[]>> = { definitions: ['reactors', 'proxies'] };

/** The rooms of `http`, from the lowest: each uses itself and those below it. Files beside them put the rooms together. */
const HTTP_RANK: Readonly<Record<string, number>> = { transport: 0, idempotency: 0, routes: 1, paging: 2, openapi: 2 };
const HTTP_TOP = 3;

const LINES_MAX = 400;
const README_LINES_MAX = 20;
const NO_DEPENDENCIES = ['kernel', 'crypto'];
const SLICE_FILES = [
  ...['index.ts', 'schema.ts', 'routes.ts', 'service.ts', 'queries.ts'],
  ...['events.ts', 'tables.ts', 'cache.ts', 'purge.ts', 'settings.ts'],
];
/** Names every slice. */
const SLICE_LIST = 'resources/slices.ts';

describe('the house is tidy', () => {
  let sources: Source[];
  let product: Source[];
  before(async () => {
    sources = await readSources();
    product = sources.filter(({ path }) => !isTest(path));
    assert.ok(product.length > 100, 'the sources were found');
  });

  it('imports point one way: to the own room or to one further right', () => {
    const wrong: string[] = [];
    for (const { path, imports } of product) {
      for (const target of imports) {
        if (roomOf(path) === roomOf(target) && path !== LIST_OF_SLICES) continue;
        if (rankOf(target) >= rankOf(path)) wrong.push(`${path} -> ${target}`);
      }
    }
    assert.deepEqual(wrong, []);
  });

  it('inside http the transport knows nothing of routes, and only the files at the top know every room', () => {
    const rankIn = (path: string): number => {
      const [, room = '', file] = path.split('/');
      const rank = file === undefined ? HTTP_TOP : HTTP_RANK[room];
      assert.notEqual(rank, undefined, `${path} is in a known room of http`);
      return rank ?? HTTP_TOP;
    };
    const wrong: string[] = [];
    for (const { path, imports } of product.filter((source) => source.path.startsWith('http/'))) {
      for (const target of imports.filter((name) => name.startsWith('http/'))) {
        if (dirname(path) !== dirname(target) && rankIn(target) >= rankIn(path)) wrong.push(`${path} -> ${target}`);
      }
    }
    assert.deepEqual(wrong, []);
  });

  it('nobody reaches into the platform: no member that begins with an underscore, no method put in place of its own', () => {
    const inside = /\.(_[a-z]\w*)|\b(_header|_dump|_handle)\b|\bsocket\.destroy = /;
    const wrong = product.filter(({ path, text }) => path.startsWith('http/') && inside.test(text));
    assert.deepEqual(
      wrong.map(({ path }) => path),
      [],
    );
  });

  it('nothing that ships imports what only tests use', () => {
    const wrong = product.flatMap(({ path, imports }) =>
      imports.filter(isTest).map((target) => `${path} -> ${target}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('a slice is entered through its index, and only by the slices that may; its settings by config.ts', () => {
    const wrong: string[] = [];
    for (const { path, imports } of product) {
      for (const target of imports.filter((name) => /^resources\/[^/]+\//.test(name))) {
        const [, slice] = target.split('/');
        const [room, own] = path.split('/');
        if (room === 'resources' && own === slice) continue;
        if (room === 'resources' && SHARED_FOLDERS[slice ?? '']?.includes(own ?? '')) continue;
        const isPairAllowed = room !== 'resources' || path === SLICE_LIST || SLICE_PAIRS.includes(`${own} -> ${slice}`);
        const isEntrance = target.endsWith('/index.ts') || (path === 'config.ts' && target.endsWith('/settings.ts'));
        if (!isEntrance || !isPairAllowed) wrong.push(`${path} -> ${target}`);
      }
    }
    assert.deepEqual(wrong, []);
  });

  it('the vault is entered through its index alone; by the operator’s transfer as well where rights are not asked for', () => {
    const wrong = product
      .filter(({ path }) => roomOf(path) !== 'vault')
      .flatMap(({ path, imports }) =>
        imports
          .filter((target) => roomOf(target) === 'vault' && target !== 'vault/index.ts')
          .filter((target) => path !== 'config.ts' || target !== 'vault/settings.ts')
          .filter((target) => roomOf(path) !== 'transfer' || target !== 'vault/carry/index.ts')
          .map((target) => `${path} -> ${target}`),
      );
    assert.deepEqual(wrong, []);
  });

  it('inside a slice routes use the service, the service uses queries, never the other way', () => {
    const order = ['queries.ts', 'service.ts', 'routes.ts'];
    const wrong: string[] = [];
    for (const { path, imports } of product.filter((source) => source.path.startsWith('resources/'))) {
      const rank = order.indexOf(path.split('/').at(-1) ?? '');
      for (const target of imports.filter((name) => name.split('/')[1] === path.split('/')[1])) {
        if (rank !== -1 && order.indexOf(target.split('/').at(-1) ?? '') > rank) wrong.push(`${path} -> ${target}`);
      }
    }
    assert.deepEqual(wrong, []);
  });

  it('the files of a slice have their fixed names', () => {
    const wrong = product
      .map(({ path }) => path)
      .filter((path) => path.startsWith('resources/') && path.split('/').length === 3)
      .filter((path) => !Object.hasOwn(SHARED_FOLDERS, path.split('/')[1] ?? ''))
      .filter((path) => !SLICE_FILES.includes(path.split('/')[2] ?? ''));
    assert.deepEqual(wrong, []);
  });

  it('log events are constants in an events.ts: no client text can become a message', () => {
    const home = /(^|\/)events\.ts$/;
    const wrong = product.filter(({ path, text }) => /\bdefineEvents\(/.test(text) && !home.test(path));
    assert.deepEqual(
      wrong.map(({ path }) => path),
      [],
    );
    for (const { path, text } of product.filter(
      (source) => home.test(source.path) && source.path !== 'audit/events.ts',
    )) {
      const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
      assert.doesNotMatch(code, /[`+]/, `${path} holds plain texts`);
    }
  });

  it('only config.ts reads the environment, only clock.ts the time, only ids.ts and crypto randomness', () => {
    const rules: readonly (readonly [RegExp, (path: string) => boolean])[] = [
      [/process\.env/, (path) => path === 'config.ts'],
      [/Date\.now\(|performance\.now\(|new Date\(\)/, (path) => path === 'kernel/clock.ts'],
      [
        /randomBytes|randomUUID|Math\.random/,
        (path) =>
          [
            'kernel/ids.ts',
            'kernel/random-pool.ts',
            'access/api-key.ts',
            'access/authenticate.ts',
            'rate-counting.ts',
          ].includes(path) ||
          path.startsWith('crypto/') ||
          path.startsWith('storage/embedded/'),
      ],
    ];
    const wrong = rules.flatMap(([pattern, isAllowed]) =>
      product
        .filter(({ path, text }) => pattern.test(text) && !isAllowed(path))
        .map(({ path }) => `${path}: ${pattern}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('the kernel and the crypto room have no dependencies', () => {
    const wrong = product
      .filter(({ path }) => NO_DEPENDENCIES.includes(roomOf(path)))
      .flatMap(({ path, packages }) =>
        packages.filter((name) => !name.startsWith('node:')).map((name) => `${path}: ${name}`),
      );
    assert.deepEqual(wrong, []);
  });

  it('SQL is written in queries and in the storage room alone, and names its columns', () => {
    const isHome = (path: string): boolean =>
      /queries\.ts$/.test(path) ||
      path.startsWith('storage/') ||
      ['audit/record.ts', 'audit/partitions.ts', 'jobs/runner.ts'].includes(path);
    const wrong = product.filter(
      ({ path, text }) => /\b(SELECT|INSERT INTO|DELETE FROM)\s/.test(text) && !isHome(path),
    );
    assert.deepEqual(
      wrong.map(({ path }) => path),
      [],
    );
    const stars = product.filter(({ text }) => /SELECT \*/.test(text)).map(({ path }) => path);
    assert.deepEqual(stars, []);
  });

  it('every room opens with a short README', async () => {
    const rooms = (await readdir('server/src', { withFileTypes: true })).filter((entry) => entry.isDirectory());
    const inHttp = Object.keys(HTTP_RANK).map((name) => ({ name: `http/${name}` }));
    const shared = Object.keys(SHARED_FOLDERS).map((name) => ({ name: `resources/${name}` }));
    for (const { name } of [...rooms, ...inHttp, ...shared]) {
      const text = await readFile(join('server/src', name, 'README.md'), 'utf8');
      assert.ok(text.split('\n').length <= README_LINES_MAX, `${name}/README.md is short`);
      assert.match(text, /Owns:/, name);
      assert.match(text, /Refuses:/, name);
    }
  });

  it('no file is longer than a newcomer would read', async () => {
    const files = await globFiles(
      [
        'server/src',
        'server/migrations',
        'acceptance/src',
        'bench/src',
        'faults/src',
        'fuzz/src',
        'engine/src',
        'test-servers/src',
        'tools/src',
      ],
      '',
    );
    const long: string[] = [];
    for (const file of files.filter((name) => /\.(ts|sql)$/.test(name))) {
      const lines = (await readFile(file, 'utf8')).split('\n').length;
      if (lines > LINES_MAX) long.push(`${file}: ${lines}`);
    }
    assert.deepEqual(long, []);
  });

  it('no test is skipped for good, and none asserts nothing', async () => {
    const files = await globFiles(
      ['server/src', 'acceptance/src', 'bench/src', 'faults/src', 'fuzz/src', 'tools/src'],
      '.test.ts',
    );
    const wrong: string[] = [];
    for (const file of files) {
      const text = await readFile(file, 'utf8');
      const helpers = [...text.matchAll(/from '(\.\/[^']+)\.js'/g)].map(([, name]) => `${name}.ts`);
      const texts = await Promise.all(helpers.map((name) => readFile(join(dirname(file), name), 'utf8')));
      if (/\b(it|test|describe)\.(only|todo)\(/.test(text)) wrong.push(`${file}: only or todo`);
      if (!/assert|fc\./.test([text, ...texts].join('\n'))) wrong.push(`${file}: asserts nothing`);
    }
    assert.deepEqual(wrong, []);
  });
});

function rankOf(path: string): number {
  if (path === LIST_OF_SLICES) return RANK.config ?? 0;
  const rank = RANK[roomOf(path)];
  assert.notEqual(rank, undefined, `${path} is in a known room`);
  return rank ?? 0;
}

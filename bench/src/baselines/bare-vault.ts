import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import pg from 'pg';
import { ACTIVE, ANY_TERM, DELETE, GROUPS, LIST, MANY, ONE, PATCH, READ, SEARCH } from './vault-statements.js';

export interface BareVaultOptions {
  /**
   * `answer` reads the body and answers. `create` also writes the rows of a token, each request in a transaction of its
   * own. `batch` writes them for a hundred tokens by one statement a table. `read` looks a token up by its id.
   * `patch` and `delete` change one in a transaction of their own, with its log entry. `list` and `search` read a page.
   */
  readonly mode: 'answer' | 'create' | 'batch' | 'read' | 'patch' | 'delete' | 'list' | 'search';
  readonly socketDir: string;
  readonly tenantId: string;
  readonly answer: string;
  readonly sealedBytes: number;
}

const CONNECTIONS = 20;
const BATCH = 100;
const PAGE = 10;
const GROUP = randomUUID();

const [given = '{}'] = process.argv.slice(2);
const options: BareVaultOptions = JSON.parse(given);
const pool = new pg.Pool({
  host: options.socketDir,
  user: 'strongroom_owner',
  database: 'strongroom',
  max: CONNECTIONS,
});
const answer = Buffer.from(options.answer);
let anyTerm: Buffer | undefined;

interface Row {
  readonly fingerprint?: Buffer;
  readonly sealed?: Buffer;
}

async function inTransaction(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  await client.query('BEGIN');
  await work(client);
  await client.query('COMMIT');
  client.release();
}

async function createOne(): Promise<void> {
  const { tenantId } = options;
  const id = randomUUID();
  const now = new Date();
  const [first, second] = [randomBytes(16), randomBytes(16)];
  const sealed = randomBytes(options.sealedBytes);
  await inTransaction(async (client) => {
    const terms = Buffer.concat([first, second]);
    await client.query({ ...ONE.token, values: [tenantId, id, GROUP, now, id, randomBytes(32), terms, sealed] });
    await client.query({ ...ONE.terms, values: [tenantId, first, second, now, id] });
    await client.query({ ...ONE.log, values: [tenantId, now, randomUUID(), id] });
    await client.query({ name: 'groups', text: GROUPS, values: [tenantId, GROUP, 1] });
    await client.query({ name: 'active', text: ACTIVE, values: [tenantId, 1] });
  });
}

async function createMany(): Promise<void> {
  const { tenantId } = options;
  const now = new Date();
  const ids = Array.from({ length: BATCH }, () => randomUUID());
  const terms = ids.flatMap(() => [randomBytes(16), randomBytes(16)]);
  await inTransaction(async (client) => {
    const joined = ids.map((_, n) => Buffer.concat(terms.slice(2 * n, 2 * n + 2)));
    const prints = ids.map(() => randomBytes(32));
    const sealed = ids.map(() => randomBytes(options.sealedBytes));
    await client.query({ ...MANY.token, values: [tenantId, GROUP, now, ids, prints, joined, sealed] });
    await client.query({ ...MANY.terms, values: [tenantId, now, terms, ids.flatMap((id) => [id, id])] });
    await client.query({ ...MANY.log, values: [tenantId, now, ids.map(() => randomUUID()), ids] });
    await client.query({ name: 'groups', text: GROUPS, values: [tenantId, GROUP, BATCH] });
    await client.query({ name: 'active', text: ACTIVE, values: [tenantId, BATCH] });
  });
}

async function readOne(id: string): Promise<Buffer> {
  const { rows } = await pool.query({ ...READ, values: [options.tenantId, id] });
  return shown(rows[0]);
}

async function patchOne(id: string): Promise<Buffer> {
  let row: Row = {};
  await inTransaction(async (client) => {
    const values = [options.tenantId, id, randomBytes(options.sealedBytes), new Date()];
    [row] = (await client.query({ ...PATCH, values })).rows;
    await client.query({ ...ONE.log, values: [options.tenantId, new Date(), randomUUID(), id] });
  });
  return shown(row);
}

async function deleteOne(id: string): Promise<Buffer> {
  const { tenantId } = options;
  await inTransaction(async (client) => {
    const [row] = (await client.query({ ...DELETE.token, values: [tenantId, id] })).rows;
    const half = row.terms.length / 2;
    const terms = [row.terms.subarray(0, half), row.terms.subarray(half)];
    await client.query({ ...DELETE.terms, values: [tenantId, terms, row.created_at, row.tie] });
    await client.query({ name: 'groups', text: GROUPS, values: [tenantId, row.group_id, -1] });
    await client.query({ ...ONE.log, values: [tenantId, new Date(), randomUUID(), id] });
  });
  return answer;
}

async function listPage(): Promise<Buffer> {
  const { rows } = await pool.query({ ...LIST, values: [options.tenantId, PAGE] });
  return Buffer.from(`[${rows.map(shown).join(',')}]`);
}

async function searchPage(): Promise<Buffer> {
  anyTerm ??= (await pool.query(ANY_TERM, [options.tenantId])).rows[0].term;
  const { rows } = await pool.query({ ...SEARCH, values: [options.tenantId, PAGE, anyTerm] });
  return Buffer.from(`[${rows.map(shown).join(',')}]`);
}

function shown(row: Row | undefined): Buffer {
  if (row === undefined) throw new Error('the row is not there');
  return Buffer.from(JSON.stringify({ ...row, fingerprint: row.fingerprint?.length, sealed: row.sealed?.length }));
}

async function respond(request: IncomingMessage): Promise<Buffer> {
  const id = request.url?.split('/').at(-1) ?? '';
  if (options.mode === 'read') return readOne(id);
  if (options.mode === 'delete') return deleteOne(id);
  if (options.mode === 'list') return listPage();
  JSON.parse((await buffer(request)).toString());
  if (options.mode === 'search') return searchPage();
  if (options.mode === 'patch') return patchOne(id);
  if (options.mode === 'create') await createOne();
  if (options.mode === 'batch') await createMany();
  return answer;
}

const server = createServer((request, response) => {
  respond(request).then(
    (body) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
      response.end(body);
    },
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      response.writeHead(500).end();
    },
  );
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`); // A TCP listener has one.
});

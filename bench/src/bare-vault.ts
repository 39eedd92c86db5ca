import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import pg from 'pg';

export interface BareVaultOptions {
  /**
   * `answer` reads the body and answers. `create` also writes the rows of a token, each request in a transaction of its
   * own. `batch` writes them for a hundred tokens by one statement a table. `read` looks a token up by its id.
   */
  readonly mode: 'answer' | 'create' | 'batch' | 'read';
  readonly socketDir: string;
  readonly tenantId: string;
  readonly answer: string;
  readonly sealedBytes: number;
}

const CONNECTIONS = 20;
const BATCH = 100;
const GROUP = randomUUID();

const TOKEN = `INSERT INTO tokens (tenant_id, id, type, group_id, created_at, tie, fingerprint, terms, data_version, sealed)`;
const LOG = `INSERT INTO logs (tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message, outcome, trace_id)`;
const TERM = `INSERT INTO token_terms (tenant_id, term, created_at, tie)`;
const GROUPS = `INSERT INTO token_groups (tenant_id, group_id, slot, type, containers, count) VALUES ($1, $2, 7, 'card', '{/pci/high/}', $3)
  ON CONFLICT (tenant_id, group_id, slot) DO UPDATE SET count = token_groups.count + EXCLUDED.count`;
const ACTIVE = `INSERT INTO active_token_counts (tenant_id, month, slot, count) VALUES ($1, date_trunc('month', now()), 7, $2)
  ON CONFLICT (tenant_id, month, slot) DO UPDATE SET count = active_token_counts.count + EXCLUDED.count`;

const ONE = {
  token: { name: 'token', text: `${TOKEN} VALUES ($1, $2, 'card', $3, $4, $5, $6, $7, 1, $8)` },
  terms: { name: 'terms', text: `${TERM} VALUES ($1, $2, $4, $5), ($1, $3, $4, $5)` },
  log: {
    name: 'log',
    text: `${LOG} VALUES ($1, $2, $3, 'application', $1, 'card', $4, 'create', 'Token created', 'success', $4)`,
  },
};

const MANY = {
  token: {
    name: 'tokens',
    text: `${TOKEN} SELECT $1, id, 'card', $2, $3, id::uuid, print, terms, 1, sealed
           FROM unnest($4::text[], $5::bytea[], $6::bytea[], $7::bytea[]) AS given (id, print, terms, sealed)`,
  },
  terms: {
    name: 'many_terms',
    text: `${TERM} SELECT $1, term, $2, tie FROM unnest($3::bytea[], $4::uuid[]) AS given (term, tie)`,
  },
  log: {
    name: 'logs',
    text: `${LOG} SELECT $1, $2, log_id, 'application', $1, 'card', id, 'create', 'Token created', 'success', id
           FROM unnest($3::uuid[], $4::text[]) AS given (log_id, id)`,
  },
};

const READ = {
  name: 'read',
  text: 'SELECT id, type, created_at, created_by, modified_at, expires_at, fingerprint, sealed FROM tokens WHERE tenant_id = $1 AND id = $2',
};

const [given = '{}'] = process.argv.slice(2);
const options: BareVaultOptions = JSON.parse(given);
const pool = new pg.Pool({
  host: options.socketDir,
  user: 'strongroom_owner',
  database: 'strongroom',
  max: CONNECTIONS,
});
const answer = Buffer.from(options.answer);

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

async function readOne(path: string): Promise<Buffer> {
  const { rows } = await pool.query({ ...READ, values: [options.tenantId, path.split('/').at(-1)] });
  const [row] = rows;
  return Buffer.from(JSON.stringify({ ...row, fingerprint: row.fingerprint?.length, sealed: row.sealed.length }));
}

async function respond(request: IncomingMessage): Promise<Buffer> {
  if (options.mode === 'read') return readOne(request.url ?? '');
  JSON.parse((await buffer(request)).toString());
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

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { give, unprivileged } from './account.js';
import { findProgram } from './find.js';
import type { Login, PostgresServer } from './postgres.js';
import { DATABASE } from './postgres.js';
import { freePort, startProgram, untilUp } from './programs.js';

export interface PgBouncer {
  readonly port: number;
  url(login: Login): string;
  remove(): Promise<void>;
}

/** PgBouncer in transaction mode before a server, with as few server connections as told. */
export async function startPgBouncer(server: PostgresServer, poolSize = 4): Promise<PgBouncer> {
  const path = findProgram('pgbouncer');
  if (path === undefined) throw new Error('no pgbouncer is installed');
  const ids = await unprivileged();
  const port = await freePort();
  const folder = await mkdtemp('/tmp/sr-bouncer-');
  const users = join(folder, 'users.txt');
  const logins: readonly Login[] = ['postgres', 'owner', 'service'];
  const words = logins.map((login) => new URL(server.url(login)));
  await writeFile(users, words.map(({ username, password }) => `"${username}" "${password}"\n`).join(''));
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]
${DATABASE} = host=127.0.0.1 port=${server.port} dbname=${DATABASE}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 500
`,
  );
  for (const path of [folder, users, file]) await give(path, ids);
  const program = startProgram(path, [file], { ids });
  const url = (login: Login): string => server.url(login, DATABASE, port);
  await untilUp(program, async () => {
    const client = new pg.Client({ connectionString: url('service') });
    await client.connect();
    await client.end();
    return true;
  });
  return {
    port,
    url,
    async remove() {
      await program.end('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

// needs: PostgreSQL packages

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import { startPostgres } from '@strongroom/test-servers/postgres.js';
import { runProgram } from '@strongroom/test-servers/programs.js';
import { Secret } from '../kernel/secret.js';
import { refuseUnfitLogin } from '../storage/login.js';
import { migrate } from '../storage/migrate.js';
import { readMigrations } from '../storage/migrations.js';
import { examineOwner } from '../storage/owner-rights.js';

const SCRIPT = fileURLToPath(new URL('../../../docker/make-roles.sh', import.meta.url));
const DATABASE = 'of_compose';

describe('docker/make-roles.sh', () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
    const superuser = await server.connect('postgres');
    // As the image leaves it: the superuser's database, and no role of ours.
    await superuser.query('DROP DATABASE strongroom');
    await superuser.query('DROP ROLE strongroom_owner, strongroom');
    await superuser.query(`CREATE DATABASE ${DATABASE}`);
    await superuser.end();
    await runProgram('/bin/sh', [SCRIPT], {
      env: {
        PATH: `${join(server.binDir)}:/bin:/usr/bin`,
        PGHOST: '127.0.0.1',
        PGPORT: String(server.port),
        PGPASSWORD: 'postgres',
        POSTGRES_USER: 'postgres',
        POSTGRES_DB: DATABASE,
        OWNER_PASSWORD: 'owner-word',
        APP_PASSWORD: 'service-word',
      },
    });
  });
  after(() => server.remove());

  it('makes an owner that can migrate and has nothing it does not need, and a login that may serve', async () => {
    const owner = { url: new Secret(server.url('owner', DATABASE)) };
    const applied = await migrate({ owner, login: 'strongroom', createLogin: false });
    assert.deepEqual(
      applied,
      (await readMigrations()).map(({ name }) => name),
    );
    assert.deepEqual(await examineOwner(owner), []);
    await refuseUnfitLogin({ url: new Secret(server.url('service', DATABASE)) });
    const superuser = await server.connect(DATABASE);
    const { rows } = await superuser.query(
      `SELECT rolname::text AS name FROM pg_roles WHERE rolname LIKE 'strongroom%'
         AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)`,
    );
    await superuser.end();
    assert.deepEqual(rows, []);
  });
});

// needs: processes

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createCaller } from '../testing/http-client.js';
import type { Env, WorkerServer } from '../testing/worker-server.js';
import { launchWorkers } from '../testing/worker-server.js';

const EMAIL = 'owner@example.com';
const PASSWORD = 'correct horse battery staple 17';
const LINK = /http:\/\/localhost:(\d+)\/portal\/set-up#([0-9A-Za-z]{43})/g;

for (const workers of [1, 2]) {
  describe(`the sign-in of the owner at a start with ${workers} process${workers > 1 ? 'es' : ''}`, () => {
    let folder: string;
    const running: WorkerServer[] = [];
    before(async () => {
      folder = await mkdtemp('/tmp/sr-owner-');
    });
    after(async () => {
      for (const { child, ended } of running) {
        child.kill('SIGKILL');
        await ended;
      }
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
    });

    async function launch(data: string, env: Env = {}) {
      const own = { STRONGROOM_DATA_DIR: join(folder, data), STRONGROOM_WORKERS: String(workers) };
      const server = await launchWorkers(folder, { ...own, ...env });
      running.push(server);
      return server;
    }
    /** What a start printed, and what a page of the Portal gets from it. */
    async function start(data: string, env?: Env) {
      const server = await launch(data, env);
      const address = await server.ready();
      const post = async (path: string, body: object) =>
        (await createCaller(address)('POST', `/portal/api/${path}`, { body, headers: { Origin: address } })).status;
      return {
        shown: server.shown,
        links: () => [...server.shown().matchAll(LINK)],
        port: new URL(address).port,
        setUp: (secret: string) => post('set-up', { secret, email: EMAIL, password: PASSWORD }),
        signIn: () => post('sign-in', { email: EMAIL, password: PASSWORD }),
        async stop() {
          server.child.kill('SIGTERM');
          assert.equal(await server.ended, 0);
        },
      };
    }

    it('a link beside the key, a new one at the next start in whose place the first is dead, and none once it was used', async () => {
      const first = await start('by-link');
      const [[, port, dead = ''] = [], ...more] = first.links();
      assert.deepEqual([port, more], [first.port, []]);
      assert.match(first.shown(), /Welcome[^{]+API key[^{]+Owner {5}http[^{]+once, for 72 hours at most/);
      await first.stop();

      const second = await start('by-link');
      const [[, , secret = ''] = [], ...others] = second.links();
      assert.deepEqual(others, []);
      assert.ok(!second.shown().includes('Welcome') && secret !== dead);
      assert.deepEqual(
        [await second.setUp(dead), await second.setUp(secret), await second.setUp(secret), await second.signIn()],
        [404, 200, 404, 200],
      );
      await second.stop();
      const logged = second
        .shown()
        .split('\n')
        .filter((line) => line.startsWith('{'));
      assert.ok(logged.some((line) => line.includes('"set_up"')));
      assert.ok(logged.every((line) => !line.includes(secret) && !line.includes(PASSWORD)));

      const third = await start('by-link');
      assert.deepEqual(third.links(), []);
      assert.ok(!third.shown().includes('Owner'));
      await third.stop();
    });

    it('200 with address and password from the settings: no link, and the password is nowhere in the output', async () => {
      const file = join(folder, 'password');
      await writeFile(file, `${PASSWORD}\n`, { mode: 0o600 });
      const env = { STRONGROOM_OWNER_EMAIL: EMAIL, STRONGROOM_OWNER_PASSWORD_FILE: file };
      const server = await start('by-file', env);
      assert.equal(await server.signIn(), 200);
      await server.stop();
      assert.deepEqual(server.links(), []);
      assert.match(
        server.shown(),
        /Portal {4}http:\/\/localhost:\d+\/portal\/\n[^{]+Owner {5}the one in STRONGROOM_OWNER_EMAIL/,
      );
      assert.ok(!server.shown().includes(PASSWORD));
    });

    it('78 for a weak password, which is not repeated, and no key is shown that nobody would see again', async () => {
      const file = join(folder, 'weak');
      await writeFile(file, 'hunter2', { mode: 0o600 });
      const env = { STRONGROOM_OWNER_EMAIL: EMAIL, STRONGROOM_OWNER_PASSWORD_FILE: file };
      const refused = await launch('weak-password', env);
      // One that starts after all would never end.
      const outcome = refused.ready().then(
        () => 'ready',
        () => refused.ended,
      );
      assert.equal(await outcome, 78);
      assert.match(refused.shown(), /STRONGROOM_OWNER_PASSWORD_FILE names is not good: /);
      assert.doesNotMatch(refused.shown(), /hunter2|key_mgt_|Welcome/);
      const next = await start('weak-password');
      assert.match(next.shown(), /Welcome[^{]+key_mgt_/);
      await next.stop();
    });
  });
}

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Person } from './portal-fixture.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

const LATE_MS = 20_000;
const STEP_UP_MS = 10 * 60_000;
const NEW_PASSWORD = 'another horse battery staple 18';

/** A client can take half a minute for its body. A session that ended meanwhile does nothing any more. */
describe('a body of a call of the Portal that comes late', () => {
  const clock = createFakeClock(Date.now());
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp({ clock });
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  /** Sends the head, waits until the server waits for the body, lets `meanwhile` happen, and sends the body late. */
  async function sendLate({ browser }: Person, path: string, given: object, meanwhile: () => Promise<void>) {
    const body = JSON.stringify(given);
    const sent = request(`${app.baseUrl}${path}`, {
      method: 'POST',
      headers: {
        ...{ Origin: app.baseUrl, Cookie: browser.cookie },
        ...{ 'Content-Type': 'application/json', 'Content-Length': body.length },
      },
      agent: false,
    });
    sent.flushHeaders();
    const answered = new Promise<{ status: number | undefined; code: string | undefined }>((resolve, reject) => {
      sent.once('error', reject);
      sent.once('response', async (response) => {
        const answer = await text(response);
        resolve({ status: response.statusCode, code: answer === '' ? undefined : JSON.parse(answer).code });
      });
    });
    const isWaiting = () => /^strongroom_http_bodies_waiting 1$/m.test(app.metrics.render());
    await eventually('the body is waited for', isWaiting);
    await meanwhile();
    clock.advance(LATE_MS);
    sent.end(body);
    return answered;
  }

  const makeTenant = (person: Person, meanwhile: () => Promise<void>) =>
    sendLate(person, '/portal/api/tenants', { name: 'Late' }, meanwhile);
  const ownedBy = async ({ userId }: Person) =>
    (await app.db.owner.query('SELECT FROM tenants WHERE owner_id = $1', [userId])).rowCount;
  const signOut = (person: Person) => async () => {
    // A copy of the cookie is what an attacker has.
    const elsewhere = openBrowser(app);
    elsewhere.cookie = person.browser.cookie;
    assert.equal((await elsewhere.call('POST', '/portal/api/sign-out')).status, 204);
  };
  const OVER = { status: 401, code: 'invalid_portal_session' };

  it('401 once the session was signed out meanwhile, and nothing is made', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    assert.deepEqual(await makeTenant(person, signOut(person)), OVER);
    assert.equal(await ownedBy(person), 0);
  });

  it('401 once the password was changed in another session meanwhile, and nothing is made', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    const elsewhere = openBrowser(app);
    const { email } = person;
    assert.equal((await elsewhere.call('POST', '/portal/api/sign-in', { email, password: PASSWORD })).status, 200);
    const change = async () => {
      const body = { current_password: PASSWORD, new_password: NEW_PASSWORD };
      const { status, text: answer } = await elsewhere.call('POST', '/portal/api/password', body);
      assert.ok(status < 300, answer);
    };
    assert.deepEqual(await makeTenant(person, change), OVER);
    assert.equal(await ownedBy(person), 0);
  });

  it('403 step_up_required once the sign-in was too long ago when the body came', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    const path = `/portal/api/tenants/${tenant.id}/owner`;
    const answer = await sendLate(person, path, { member_id: person.memberId }, async () => {
      clock.advance(STEP_UP_MS);
    });
    assert.deepEqual(answer, { status: 403, code: 'step_up_required' });
  });

  it('201 for a session that goes on', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    assert.equal((await makeTenant(person, async () => {})).status, 201);
    assert.equal(await ownedBy(person), 1);
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../../testing/eventually.js';
import type { Answer } from '../../../testing/http-client.js';
import type { TestApp } from '../../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../../testing/test-app.js';
import type { PreviewsWorld } from './previews-fixture.js';
import { CARD_NUMBER, MASKED, openPreviews, previewCalls, SECRET } from './previews-fixture.js';

const DOOR = 78;
const PREVIEWED = 'Token previewed in proxy';

describe('a preview that something happens to', () => {
  let world: PreviewsWorld;
  let app: TestApp;
  /** Another process: in this one a tenant's large tokens are read one at a time, also by who deletes them. */
  let beside: TestApp;
  let deleter: string;
  const { made, stored, ephemeral, messages } = previewCalls(() => world);
  before(async () => {
    world = await openPreviews();
    ({ app } = world);
    beside = await startTestApp({ beside: { db: app.db, rootKey: rootKeyOf(app) } });
    deleter = await app.makeKey(world.tenant.id, 'private', ['token:delete']);
  });
  after(async () => {
    await beside.close();
    await world.close();
  });

  const query = (text: string) => app.db.owner.query(text);
  const remove = async (id: string): Promise<void> =>
    assert.equal((await beside.call('DELETE', `/tokens/${id}`, { key: deleter })).status, 204);
  async function isAtTheDoor(): Promise<boolean> {
    const { rows } = await query(
      `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = ${DOOR} AND NOT granted`,
    );
    return rows.length > 0;
  }

  /** Stops a preview at a door, lets something happen, and opens it. */
  async function around(close: string, open: string, preview: () => Promise<Answer>, meanwhile: () => Promise<void>) {
    await query(`${close}; SELECT pg_advisory_lock(${DOOR})`);
    try {
      const answer = preview();
      await eventually('it is at the door', isAtTheDoor);
      await meanwhile();
      await query(`SELECT pg_advisory_unlock(${DOOR})`);
      return await answer;
    } finally {
      await query('SELECT pg_advisory_unlock_all()');
      await query(open);
    }
  }

  it('503 and nothing is shown when its entry cannot be written, and 200 once it can', async () => {
    const large = await made({ data: { secret: SECRET, filler: 'y'.repeat(600_000) }, mask: { shown: MASKED } });
    const asked = [{ n: `{{ ${world.card} }}` }, { n: `{{ ${large} | json: "$.shown" }}` }];
    await query('REVOKE INSERT ON logs FROM strongroom_app');
    try {
      for (const body of asked) {
        for (const { status, json, text } of [await stored({ body }), await ephemeral({ body })]) {
          assert.deepEqual([status, json.code], [503, 'storage_unavailable']);
          for (const hidden of [MASKED, CARD_NUMBER, SECRET, 'granted', 'localhost'])
            assert.ok(!text.includes(hidden), text);
        }
      }
      assert.equal((await stored({ body: { n: 'plain' } })).status, 200, 'what uses no token has no entry');
    } finally {
      await query('GRANT INSERT ON logs TO strongroom_app');
    }
    for (const id of [world.card, large]) assert.deepEqual(await messages(id), []);
    for (const body of asked) assert.equal((await stored({ body })).json.body.n, MASKED);
  });

  it('200 with the mask alone of a token that is deleted before the entry is written', async () => {
    const id = await made({ type: 'card_number', data: CARD_NUMBER });
    const close = `CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${DOOR}); RETURN NEW; END $$;
      CREATE TRIGGER stop BEFORE INSERT ON logs FOR EACH ROW WHEN (NEW.message = '${PREVIEWED}') EXECUTE FUNCTION stop()`;
    const answer = await around(
      close,
      'DROP TRIGGER stop ON logs; DROP FUNCTION stop()',
      () => stored({ body: { n: `{{ ${id} }}` } }),
      () => remove(id),
    );
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([answer.json.body, answer.json.tokens], [{ n: MASKED }, [{ id, granted: true }]]);
    assert.deepEqual(await messages(id), [PREVIEWED]);
    const later = await stored({ body: { n: `{{ ${id} }}` } });
    assert.deepEqual(later.json.tokens, [{ id, granted: false }]);
  });

  /**
   * Large tokens are read one behind the other: one is deleted while the other is read. The statement that brings all of a record is
   * the only one that does not look at its size.
   */
  async function deletedMeanwhile(which: 'before it is read' | 'after it was read') {
    const filler = 'y'.repeat(900_000);
    const make = () => made({ data: { secret: SECRET, filler }, mask: { shown: MASKED } });
    const [first, second] = [await make(), await make()];
    const [gone, stays] = which === 'before it is read' ? [second, first] : [first, second];
    const body = [first, second].map((id) => `{{ ${id} | json: "$.shown" }}`);
    const close = `CREATE FUNCTION stop(id text) RETURNS boolean LANGUAGE plpgsql AS
        $$ BEGIN IF id = '${stays}' AND current_query() NOT LIKE '%octet_length%' THEN
          PERFORM pg_advisory_xact_lock_shared(${DOOR}); END IF; RETURN true; END $$;
      CREATE POLICY stop ON tokens AS RESTRICTIVE FOR SELECT TO strongroom_app USING (stop(id::text))`;
    const open = 'DROP POLICY stop ON tokens; DROP FUNCTION stop(text)';
    const answer = await around(
      close,
      open,
      () => stored({ body }),
      () => remove(gone),
    );
    assert.equal(answer.status, 200, answer.text);
    assert.ok(!answer.text.includes(SECRET));
    const shown = body.map((text) => (text.includes(gone) ? text : MASKED));
    assert.deepEqual(answer.json.body, shown, 'an expression on what is gone stays as it was written');
    assert.deepEqual(await messages(stays), [PREVIEWED]);
    const { granted } = answer.json.tokens.find(({ id }: { id: string }) => id === gone);
    return { isGranted: granted, entries: await messages(gone) };
  }

  it('200 for a large token that is deleted before it is read, as for one that never was', async () => {
    assert.deepEqual(await deletedMeanwhile('before it is read'), { isGranted: false, entries: [] });
  });

  it('200 for a large token that is deleted after its right was decided: its mask is not shown, and the log has it', async () => {
    assert.deepEqual(await deletedMeanwhile('after it was read'), { isGranted: true, entries: [PREVIEWED] });
  });
});

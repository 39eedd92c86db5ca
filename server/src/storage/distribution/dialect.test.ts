import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../kernel/clock.js';
import { AppError } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import { INSERT_PAIRED_NOTE, LIST_NOTES, makeNotesTable } from '../../testing/notes-table.js';
import type { TestDatabase } from '../../testing/test-database.js';
import { createTestDatabase } from '../../testing/test-database.js';
import type { Database } from '../database.js';
import { createDatabase } from '../database.js';
import { isConflict, isUniqueViolation, outcomeUnknown } from '../faults.js';
import { distributedScope } from '../scope.js';
import { distributedStatement, plainStatement, statement } from '../statement.js';

const TWO_FORMS = statement<{ form: string }>('two_forms', `SELECT 'plain' AS form`, `SELECT 'distributed' AS form`);
const PLAIN = plainStatement<{ form: string }>('plain_alone', `SELECT 'plain' AS form`);
const DISTRIBUTED = distributedStatement<{ form: string }>('distributed_alone', `SELECT 'distributed' AS form`);

describe('how statements are put to a database', () => {
  let db: TestDatabase;
  let plain: Database;
  let distributed: Database;
  before(async () => {
    db = await createTestDatabase();
    await makeNotesTable(db.owner);
    plain = createDatabase({ target: db.target, clock: systemClock });
    distributed = createDatabase({ target: db.target, isDistributed: true, clock: systemClock });
  });
  after(async () => {
    await plain.close();
    await distributed.close();
    await db.drop();
  });

  const formsOn = (database: Database) =>
    database.lookUp(async (tx) => {
      const asked = [TWO_FORMS, PLAIN, DISTRIBUTED].map((each) => tx.run(each, []));
      return (await Promise.all(asked)).map((rows) => rows.map(({ form }) => form).join());
    });

  it('each kind is asked in its own form, and not at all what is for the other', async () => {
    assert.deepEqual(await formsOn(plain), ['plain', 'plain', '']);
    assert.deepEqual(await formsOn(distributed), ['distributed', '', 'distributed']);
  });

  it('the scope is that of the transaction and of no other, whatever the connection had before', async () => {
    const [first, second] = [newId(), newId()];
    const insert = (tenantId: string) =>
      distributed.write(tenantId, (tx) => tx.run(INSERT_PAIRED_NOTE, [tenantId, 'note', newId()]));
    await Promise.all([insert(first), insert(second)]);
    const seen = (tenantId: string) => distributed.read(tenantId, (tx) => tx.run(LIST_NOTES, []));
    for (const tenantId of [first, second, first]) {
      assert.deepEqual(await seen(tenantId), [{ tenant_id: tenantId, id: 'note' }]);
    }
    assert.deepEqual(await seen(newId()), []);
    await assert.rejects(distributed.write(first, (tx) => tx.run(INSERT_PAIRED_NOTE, [second, 'planted', newId()])));
  });

  it('a scope of anything but ids of tenants is refused, before it is sent', () => {
    const id = newId();
    assert.match(distributedScope([id], []), new RegExp(`SET LOCAL strongroom.tenants TO '${id}'$`));
    assert.match(distributedScope([id], [id]), new RegExp(`SET LOCAL strongroom.doomed TO '${id}'$`));
    for (const bad of [`${id}'; DROP TABLE tokens; --`, '', 'x', id.toUpperCase(), `${id},${id}`]) {
      assert.throws(() => distributedScope([bad], []), RangeError);
      assert.throws(() => distributedScope([], [bad]), RangeError);
    }
  });

  it('an error at COMMIT says that nothing was changed on one server, and that nobody knows on several', async () => {
    const tenantId = newId();
    const collide = (database: Database) => {
      const pair = newId();
      return database.write(tenantId, async (tx) => {
        for (const id of [newId(), newId()]) await tx.run(INSERT_PAIRED_NOTE, [tenantId, id, pair]);
      });
    };
    await assert.rejects(collide(plain), isUniqueViolation);
    await assert.rejects(
      collide(distributed),
      (error) =>
        error instanceof AppError &&
        /may or may not have been made/.test(error.message) &&
        // Or somebody would take it for a refusal, and run it again.
        !isUniqueViolation(error),
    );
    const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01', severity: 'ERROR' });
    assert.deepEqual([isConflict(deadlock), isConflict(outcomeUnknown(deadlock))], [true, false]);
  });
});

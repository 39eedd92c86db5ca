import { systemClock } from '../kernel/clock.js';
import { createDatabase } from '../storage/database.js';
import { startTestSender } from './mail-fixture.js';

/** A process for tests to kill: sends what is queued in the database it is given to the port it is given. */
const [target = '', port = ''] = process.argv.slice(2);
const database = createDatabase({ target: JSON.parse(target), clock: systemClock });
startTestSender(database, Number(port));
setInterval(() => {}, 60_000);

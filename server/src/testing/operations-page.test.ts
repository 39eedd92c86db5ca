import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { TestApp } from './test-app.js';
import { startTestApp } from './test-app.js';

/** Everything that brings metrics of its own is set; nothing of it has to be there. */
const ENV = {
  STRONGROOM_RATE_LIMITS: 'on',
  STRONGROOM_REDIS_URL: 'redis://127.0.0.1:1',
  STRONGROOM_SMTP_URL: 'smtp://127.0.0.1:1',
  STRONGROOM_MAIL_FROM: 'vault@example.com',
};
const NO_REPLICA = { socketDir: '/nowhere', port: 1, user: 'nobody', database: 'none' };
/** Rendered by the process that keeps the workers, whose tests look at it. */
const OF_KEEPER = 'strongroom_workers';

const PAGE = new URL('../../../docs/operations.md', import.meta.url);

describe('docs/operations.md', () => {
  let app: TestApp;
  let page: string;
  before(async () => {
    app = await startTestApp({ env: ENV, replica: NO_REPLICA });
    page = await readFile(PAGE, 'utf8');
  });
  after(() => app.close());

  it('says of every metric of a running app what it means and what to do', () => {
    const rendered = [...app.metrics.render().matchAll(/^# TYPE (\S+) (\S+)/gm)].map(([, name, type]) => [name, type]);
    assert.ok(rendered.length >= 12);
    for (const [name = '', type = ''] of rendered) {
      const row = page
        .split('\n')
        .find((line) => line.startsWith(`| \`${name}`) && /^[`{]/.test(line.slice(3 + name.length)));
      assert.ok(row, `${name} has a row`);
      const [, , shownType = '', meaning = '', todo = ''] = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
      assert.ok(shownType.startsWith(type), `${name} is a ${type}`);
      assert.ok(meaning.length > 5 && todo.length > 5, `${name}: meaning and what to do`);
    }
  });

  it('names every background job, and no metric that is not there', () => {
    const text = app.metrics.render();
    for (const [, job] of text.matchAll(/strongroom_job_done_total\{job="([^"]+)"\}/g)) {
      assert.ok(page.includes(`| \`${job}\` |`), `${job} has a row`);
    }
    const names = new Set([...page.matchAll(/^\| `(strongroom_[a-z_]+)/gm)].map(([, name]) => name));
    assert.ok(names.delete(OF_KEEPER));
    for (const name of names) assert.ok(text.includes(`# TYPE ${name} `), `${name} is rendered`);
  });
});

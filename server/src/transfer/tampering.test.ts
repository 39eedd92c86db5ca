// needs: time

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ExitError } from '../kernel/exit.js';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';
import {
  ALL_OF_TOKENS,
  exportFrom,
  importInto,
  logCounts,
  makeMany,
  makeScratch,
  makeTransferPair,
} from '../testing/transfer.js';
import { writeExportManifest } from './manifest.js';
import { createSealedFile, digestOf, sealedLines, segmentContext, segmentName } from './segment.js';
import { readTokenLine } from './token-line.js';

const NOW_MS = Date.UTC(2030, 0, 15);

describe('an export that was tampered with', () => {
  const pair = makeTransferPair();
  let app: TestApp;
  let target: TestTenant;
  let scratch: Awaited<ReturnType<typeof makeScratch>>;
  let folder: string;
  before(async () => {
    app = await startTestApp();
    scratch = await makeScratch();
    folder = join(scratch.path, 'export');
    const tenant = await app.makeTenant();
    target = await app.makeTenant();
    await makeMany(app, await app.makeKey(tenant.id, 'private', ALL_OF_TOKENS), 1);
    await exportFrom(app, tenant.id, folder, pair);
  });
  after(async () => {
    await app.close();
    await scratch.remove();
  });

  for (const name of ['manifest.sealed', 'segment-000001.sealed']) {
    it(`is refused with any one byte of ${name} changed, and nothing is written`, async () => {
      const path = join(folder, name);
      const whole = await readFile(path);
      for (let at = 0; at < whole.length; at += 1) {
        const changed = Buffer.from(whole);
        changed.writeUInt8(changed.readUInt8(at) ^ (1 << (at % 8)), at);
        await writeFile(path, changed);
        await assert.rejects(importInto(app, target.id, folder, pair), ExitError, `byte ${at}`);
      }
      await writeFile(path, whole);
      assert.equal((await logCounts(app, target.id, 'Token created')).size, 0);
    });
  }

  it('is refused by the segment itself too: changed after it was compared with the manifest', async () => {
    const path = join(folder, 'segment-000001.sealed');
    const whole = await readFile(path);
    for (let at = 0; at < whole.length; at += 7) {
      const changed = Buffer.from(whole);
      changed.writeUInt8(changed.readUInt8(at) ^ 0x80, at);
      await writeFile(path, changed);
      const read = async () => {
        for await (const line of sealedLines(path, pair.unlock, segmentContext(1))) assert.ok(line.length > 0);
      };
      await assert.rejects(read(), /sealed stream/, `byte ${at}`);
    }
    await writeFile(path, whole);
  });

  it('made by a stranger who has the public key, is held to the rules of the API', async () => {
    const forged = join(scratch.path, 'forged');
    await exportFrom(app, target.id, forged, pair);
    const exportId = '4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10';
    const file = await createSealedFile(join(forged, segmentName(1)), pair.lock, segmentContext(1));
    const base = { created_at: '2024-01-01T00:00:00Z', data: 'x' };
    const lines = [
      { ...base, id: 'good one' },
      { ...base, id: '{{ data }}' },
      { ...base, id: 'containers', containers: [] },
      { ...base, id: 'number', type: 'card', data: { number: '1' } },
      { ...base, id: 'good one' },
      { ...base, id: 'who', created_by: `x'; DROP TABLE tokens` },
      { ...base, id: 'future', created_at: '2999-01-01T00:00:00Z' },
      { id: 'no data', created_at: '2024-01-01T00:00:00Z' },
      [],
    ];
    await file.write(Buffer.from(`${JSON.stringify({ export_id: exportId, segment: 1 })}\n`));
    for (const line of lines) await file.write(Buffer.from(`${JSON.stringify(line)}\n`));
    await file.finish();
    const segment = { number: 1, tokens: lines.length, ...(await digestOf(join(forged, segmentName(1)))) };
    const times = { startedAt: '2024-01-01', finishedAt: '2024-01-01' };
    await writeExportManifest(forged, pair.lock, { exportId, tenantId: target.id, ...times, segments: [segment] });
    const outcome = await importInto(app, target.id, forged, pair);
    assert.deepEqual([outcome.created, outcome.refusedCount], [1, 8]);
    assert.deepEqual(
      outcome.refused.map((story) => story.slice(0, story.indexOf(':'))),
      [3, 4, 5, 6, 7, 8, 9, 10].map((line) => `segment 1, line ${line}`),
    );
    assert.ok(!outcome.refused.join().includes('DROP'), 'what is wrong is told without what was sent');
  });

  it('is refused when it holds another number of tokens than its manifest says', async () => {
    const forged = join(scratch.path, 'short');
    const exportId = '4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10';
    await exportFrom(app, target.id, forged, pair);
    const file = await createSealedFile(join(forged, segmentName(1)), pair.lock, segmentContext(1));
    await file.write(Buffer.from(`${JSON.stringify({ export_id: exportId, segment: 1 })}\n`));
    await file.finish();
    const segment = { number: 1, tokens: 1, ...(await digestOf(join(forged, segmentName(1)))) };
    const times = { startedAt: '2024-01-01', finishedAt: '2024-01-01' };
    await writeExportManifest(forged, pair.lock, { exportId, tenantId: target.id, ...times, segments: [segment] });
    await assert.rejects(importInto(app, target.id, forged, pair), /another number of tokens/);
  });
});

describe('a line of an export', () => {
  it('is refused without being repeated, whatever it is', () => {
    for (const text of ['', 'null', '[]', '"secret"', '{', '{"id":"secret-value"}', '{"id":7,"created_at":true}']) {
      const read = readTokenLine(text, NOW_MS);
      assert.equal(read.kind, 'refused', text);
      assert.doesNotMatch(JSON.stringify(read), /secret/);
    }
  });

  it('is expired from the very moment it names', () => {
    const line = (date: string) =>
      JSON.stringify({ id: 'abc', data: 1, created_at: '2029-01-01T00:00:00Z', expires_at: date });
    assert.equal(readTokenLine(line('2030-01-15T00:00:00.000Z'), NOW_MS).kind, 'expired');
    assert.equal(readTokenLine(line('2030-01-15T00:00:00.001Z'), NOW_MS).kind, 'token');
  });
});

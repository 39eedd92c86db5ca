import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { generateExchangeKey, parsePrivateExchangeKey, parsePublicExchangeKey } from '../../crypto/exchange-key.js';
import { identityUnlock, recipientLock } from '../../crypto/sealed-stream-keys.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { createBudget } from '../../expressions/budget.js';
import { createExpressions } from '../../expressions/expressions.js';
import { openAnswer, sealAnswer } from '../../kept-answers/kept-answer.js';
import { Secret } from '../../kernel/secret.js';
import type { Capture } from '../../testing/captured-bytes.js';
import { captureBytes, holdsBytes, unwiped } from '../../testing/captured-bytes.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { createSealedFile, sealedLines } from '../../transfer/segment.js';
import type { TokenContent } from './content.js';
import { fingerprintOf } from './fingerprint.js';
import { groupIdOf } from './names.js';
import { openContent, resealContent, sealContent } from './seal.js';
import { dataTerm, metadataTerm } from './terms.js';

const NUMBER = '4242424242424242';
const CONTENT: TokenContent = {
  type: 'card',
  data: { number: NUMBER },
  containers: ['/pci/high/'],
  metadata: undefined,
  mask: undefined,
  searchIndexes: undefined,
  fingerprintExpression: undefined,
  privacy: { classification: 'pci', impact_level: 'high', restriction_policy: 'mask' },
  encryption: undefined,
};

describe('plaintext that was sealed, opened or hashed', () => {
  let app: TestApp;
  let keys: TenantKeys;
  let tenantId: string;
  let capture: Capture;
  before(async () => {
    app = await startTestApp();
    tenantId = (await app.makeTenant()).id;
    keys = await app.keyStore.keyring.forTenant(tenantId);
  });
  after(() => app.close());
  beforeEach(() => {
    capture = captureBytes();
  });
  afterEach(() => capture.stop());

  it('is zero once a token was sealed, opened and sealed anew, small or large', () => {
    for (const data of [CONTENT.data, { number: NUMBER, note: 'x'.repeat(100_000) }]) {
      const place = { tenant_id: tenantId, id: 'one', data_version: 1 };
      const sealed = sealContent(keys, place, { ...CONTENT, data });
      const row = { ...place, type: 'card', group_id: groupIdOf('card', CONTENT.containers), sealed };
      assert.deepEqual(openContent(keys, row).data, data);
      resealContent(keys, row);
    }
    assert.ok(
      holdsBytes(capture, 'plaintext to seal', NUMBER) && holdsBytes(capture, 'plaintext that was opened', NUMBER),
    );
    assert.deepEqual(unwiped(capture), []);
  });

  it('is zero when sealing fails, and when what was opened does not belong to its row', () => {
    const place = { tenant_id: tenantId, id: 'one', data_version: 1 };
    const sealed = sealContent(keys, place, CONTENT);
    const moved = { ...place, type: 'card', group_id: groupIdOf('card', ['/other/']), sealed };
    assert.throws(() => openContent(keys, moved), { name: 'IntegrityError' });
    capture.failCiphers();
    assert.throws(() => sealContent(keys, place, CONTENT), /the cipher failed/);
    assert.ok(holdsBytes(capture, 'plaintext to seal', NUMBER));
    assert.deepEqual(unwiped(capture), []);
  });

  it('is zero once it was hashed for a fingerprint, an index, metadata or the filter hmac', () => {
    fingerprintOf(keys, 'card', NUMBER);
    dataTerm(keys, NUMBER);
    metadataTerm(keys, 'number', NUMBER);
    const expressions = createExpressions();
    expressions.evaluate("{{ data | hmac: 'k' | to_base64 }}", { data: NUMBER }, createBudget());
    assert.ok(holdsBytes(capture, 'hashed', NUMBER) && holdsBytes(capture, 'message of a keyed hash', NUMBER));
    assert.deepEqual(unwiped(capture), []);
  });

  it('is zero once an answer was kept and given again, with its secrets for one credential', () => {
    const place = { keys, id: Buffer.alloc(32, 7) };
    const credential = new Secret('key_mgt_1');
    const answer = { status: 201, body: JSON.stringify({ key: `key_${NUMBER}` }), location: undefined };
    const sealed = sealAnswer(place, answer, { fields: ['key'], credential });
    assert.equal(openAnswer(place, { status: 201, sealed } as never, credential).answer.body, answer.body);
    assert.ok(holdsBytes(capture, 'plaintext to seal', NUMBER));
    capture.failCiphers();
    assert.throws(() => sealAnswer(place, answer, { fields: ['key'], credential }), /the cipher failed/);
    assert.deepEqual(unwiped(capture), []);
  });

  it('is zero once an export was written and read, to its end or not', async () => {
    const { publicText, privateText } = generateExchangeKey();
    const lock = recipientLock(parsePublicExchangeKey(publicText));
    const unlock = identityUnlock(parsePrivateExchangeKey(privateText.reveal()));
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-wiping-'));
    try {
      const file = await createSealedFile(join(folder, 'one'), lock, ['c']);
      const line = Buffer.from(`{"number":"${NUMBER}","note":"${'x'.repeat(50_000)}"}\n`);
      await file.write(line);
      assert.ok(line.every((byte) => byte === 0));
      await file.write(Buffer.from(`${NUMBER}\n`));
      await file.finish();
      const found: string[] = [];
      for await (const each of sealedLines(join(folder, 'one'), unlock, ['c'])) found.push(each);
      assert.deepEqual([found.length, found.at(-1)], [2, NUMBER]);
      for await (const _ of sealedLines(join(folder, 'one'), unlock, ['c'])) break;
      assert.ok(holdsBytes(capture, 'plaintext that was opened', NUMBER));
      assert.deepEqual(unwiped(capture), []);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

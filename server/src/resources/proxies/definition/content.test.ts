import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { describe, it } from 'node:test';
import { IntegrityError } from '../../../crypto/integrity-error.js';
import type { TenantKeys } from '../../../crypto/tenant-keys.js';
import { PROXY_SEALING } from './content.js';

const TENANT = '0b7e6f0e-4c1a-4f6e-9d3a-5f1c2e7a9b10';
const PROXY = 'c2f1d6a4-7b3e-4a58-8f0d-1e9b6c5a4d32';
const APPLICATION = '5d3f5c1e-6a0b-4e0e-9f44-2f0f6a1d7b21';
const KEY = createSecretKey(Buffer.alloc(32, 7));
const KEYS: TenantKeys = {
  tenantId: TENANT,
  encryption: { currentVersion: 2, byVersion: new Map([[2, KEY]]) },
  fingerprint: KEY,
  index: KEY,
};
const SAID = {
  name: 'Zoë',
  destinationUrl: 'https://a.example:8443/v1',
  requestTransform: 'module.exports = (req) => req.args',
  responseTransform: null,
  configuration: { A: 'a' },
  requireAuth: false,
  requestReactorId: null,
  responseReactorId: 'not one of ours',
};
const KEPT = { key: `key_prx_${'a'.repeat(32)}`, keyHash: Buffer.alloc(32, 9) };

/** Written by the release that had format 1 first, with the keys above. They open for ever. */
const SEALED_PROXY =
  'AQEAAAACAAAAA4AwQVnT6b1kqj3tTOipHclpeFlUocKJFoc+8/obKsuZCrc9ZrEfk4ayO9BVSFyGTyPkvoeJbQpISI3t2TtDUE7K' +
  'ABgyGcoLl+NYGrlJpjgpQ0/anhPeF1q9t+7jFc/ydyLxCRR1Gl3oRCRL6agEc9azGc5WZCZ9nFpXuLPltCVDyZT64dQftT+1Xl4G' +
  '4VgSymf7YAtToluVA/WU5+g0AlhnXUCdgkH9nPxky3eS9z1ETwA924H7Vp4atpA5icCbbsP1T9QjbiDZaxmYXOMlvxJ/MP8O+e+s' +
  'ZLMZzR/wOijTiroMuuuZPfrVg37LxTNtisWjdjSCE+oXPOU83Eu9N4fDfZPjOaARQ5zYlcH5dNXqRMhxN7YkJvyTjKek9pADp/O4' +
  'IC/iz2y3Wz5lVAfgFISNFdh5Gjhddtzq+2N4FlBcbbv3sqDPGONRb37HVMQMAyyqeMCIgbs/YN25T7KEMdVkgjce6NYL0pDHt/iI' +
  'jG/+QAm+GiQS25zP/+nHHhDwxtlayXzZrduGz8xcJRe8xJqxgbCcrtKH3WQzvZ2+IvDLstxrBHyNsTvuSXNWPKh64vqokemowg1n' +
  'UhnjIi4ljED+/FI++4b6EIYl7A==';
const SEALED_VERSION =
  'AQEAAAACAAAAAolcLHRnj6t2IzF3M0qPiXXNGfYj5bLlNSrF+/h7y6DJXm+9nRiBpYi3NldgLEu4CYaB5TsTovhmeYyaWSJ7ZPjh' +
  'gRe0hzBq4peCdCjNm4Tikpyn/MnHpDR1C/E8zqtAZdt5fA76CkNiggwLqff0AkxKzjMJiS+zvSEJTeOFd5isud2qaZ3mb7dL6iqb' +
  'OS4MISFK++n6VBKC7pgIkrTiMXaDvkr9T33FDyd2MHlwowGjBVb+IgGIi7Tr6+r4/bG2/1JV19mS4wdAGl0saNnwsLev1wugrGRo' +
  'oIUQf43yb9Z4MzL1OR98dJuN61DCpROiynBG2rEiKZqPOba/1hxbx4E1D+qFMsOlgCrIUfRdp3ceoEXBi7UudsCvL0cZMNDTDEdR' +
  'e4zmwBiE2fA1qdC7hHhw5qnC6JBNPxfmp6JDGQ==';

const who = { created_by: null, created_at: new Date(0), modified_by: null, modified_at: null };
const proxy = {
  ...{ tenant_id: TENANT, id: PROXY, name: 'Zoë', application_id: APPLICATION, version: 3, ...who },
  key_hash: KEPT.keyHash,
  sealed: Buffer.from(SEALED_PROXY, 'base64'),
};
const version = {
  ...{ tenant_id: TENANT, definition_id: PROXY, version: 2, created_by: null, created_at: new Date(0) },
  sealed: Buffer.from(SEALED_VERSION, 'base64'),
};
const { open, openVersion } = PROXY_SEALING;

describe('fixed vectors of what is sealed of a Proxy, format 1', () => {
  it('a Proxy opens to what it said, with its key', () => {
    assert.deepEqual(open(KEYS, proxy), { ...SAID, applicationId: APPLICATION, ...KEPT });
  });

  it('a version opens to what it said, without a key', () => {
    assert.deepEqual(openVersion(KEYS, version), { ...SAID, applicationId: null });
  });

  it('neither opens in another place, beside other columns, or with a bit flipped', () => {
    const flipped = (sealed: Buffer) => Buffer.concat([sealed.subarray(0, -1), Buffer.of((sealed.at(-1) ?? 0) ^ 1)]);
    for (const change of [
      { id: TENANT },
      { version: 2 },
      { name: 'Zoe' },
      { application_id: null },
      { key_hash: Buffer.alloc(32, 8) },
      { key_hash: Buffer.alloc(0) },
      { sealed: flipped(proxy.sealed) },
      { sealed: version.sealed },
    ]) {
      assert.throws(() => open(KEYS, { ...proxy, ...change }), IntegrityError, JSON.stringify(change));
    }
    for (const change of [{ definition_id: TENANT }, { version: 1 }, { sealed: flipped(version.sealed) }]) {
      assert.throws(() => openVersion(KEYS, { ...version, ...change }), IntegrityError, JSON.stringify(change));
    }
    assert.throws(() => openVersion(KEYS, { ...version, sealed: proxy.sealed }), IntegrityError);
  });
});

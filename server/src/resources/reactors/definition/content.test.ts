import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { describe, it } from 'node:test';
import { IntegrityError } from '../../../crypto/integrity-error.js';
import type { TenantKeys } from '../../../crypto/tenant-keys.js';
import { openReactor, openVersion } from './content.js';

const TENANT = '0b7e6f0e-4c1a-4f6e-9d3a-5f1c2e7a9b10';
const REACTOR = 'c2f1d6a4-7b3e-4a58-8f0d-1e9b6c5a4d32';
const APPLICATION = '5d3f5c1e-6a0b-4e0e-9f44-2f0f6a1d7b21';
const KEY = createSecretKey(Buffer.alloc(32, 7));
const KEYS: TenantKeys = {
  tenantId: TENANT,
  encryption: { currentVersion: 2, byVersion: new Map([[2, KEY]]) },
  fingerprint: KEY,
  index: KEY,
};
const SAID = { name: 'Zoë', code: 'module.exports = () => ({ raw: 1 })', configuration: { A: 'a' } };

/** Written by the release that had format 1 first, with the keys above. They open for ever. */
const SEALED_REACTOR =
  'AQEAAAACAAAAAwVX0I8hjrC6jU76QobOAXDL5bNl5wNbf5VW5KJwTp7xIP4cUEdtj8jPZcyyqSNDTJ0Sk7sK4PhQ43ve8XRSdYgm' +
  '0uYhiZo5mt+TfsP0Ku0OkuZrsBgcycoTb3zzKYhXsu0OepCNjFmNy/gaJL2VhPcKPgqaNpTu5UVs/mvugRZzuAqlgphpqhnAShIu' +
  'JqqZsEiVBhkTMQidw/FENgdl4PL6kAwU+6p/31thcAxe0VXq9dutcw8RrA7ihUW27LfXLio+M76uN9OiSIQxIx2lz3QSP9g93rgn' +
  'XU6zFTQXwRCDMLoFuIWDHKcckCpCvG2PqlS3/AhL2A==';
const SEALED_VERSION =
  'AQEAAAACAAAAAstQEnNHm5FBsUrqT6UcKlBta0R2HX6yvZsue2WK23X/ijmwWAbP4x2IiTuk0uiywOFlsGN1Yirwn2A5mdfhLJFm' +
  'qzfrtWTi65ADIEMcesWfjUa87D1NOCqAK2d9yvi/CjTCIUCMKNqanwo3C+4u6oz7o7O+vxKv5cBObbazXaFFwK886KYcyD/LOVGE' +
  'g8RecUNi0g==';

const who = { created_by: null, created_at: new Date(0), modified_by: null, modified_at: null };
const reactor = {
  ...{ tenant_id: TENANT, id: REACTOR, name: 'Zoë', application_id: APPLICATION, version: 3, ...who },
  sealed: Buffer.from(SEALED_REACTOR, 'base64'),
};
const version = {
  ...{ tenant_id: TENANT, definition_id: REACTOR, version: 2, created_by: null, created_at: new Date(0) },
  sealed: Buffer.from(SEALED_VERSION, 'base64'),
};

describe('fixed vectors of what is sealed of a Reactor, format 1', () => {
  it('a Reactor opens to what it said, with its secret', () => {
    const callbackSecret = `rcs_${'a'.repeat(40)}`;
    assert.deepEqual(openReactor(KEYS, reactor), { ...SAID, applicationId: APPLICATION, callbackSecret });
  });

  it('a version opens to what it said', () => {
    assert.deepEqual(openVersion(KEYS, version), { ...SAID, applicationId: null });
  });

  it('neither opens in another place, beside other columns, or with a bit flipped', () => {
    const flipped = (sealed: Buffer) => Buffer.concat([sealed.subarray(0, -1), Buffer.of((sealed.at(-1) ?? 0) ^ 1)]);
    const wrongReactors = [
      { ...reactor, id: APPLICATION },
      { ...reactor, version: 2 },
      { ...reactor, name: 'Zoe' },
      { ...reactor, application_id: null },
      { ...reactor, sealed: version.sealed },
      { ...reactor, sealed: flipped(reactor.sealed) },
    ];
    for (const wrong of wrongReactors) assert.throws(() => openReactor(KEYS, wrong), IntegrityError);
    const wrongVersions = [
      { ...version, version: 3 },
      { ...version, definition_id: APPLICATION },
      { ...version, sealed: reactor.sealed },
      { ...version, sealed: flipped(version.sealed) },
    ];
    for (const wrong of wrongVersions) assert.throws(() => openVersion(KEYS, wrong), IntegrityError);
  });
});

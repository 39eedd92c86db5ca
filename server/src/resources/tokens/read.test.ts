import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Answer } from '../../testing/http-client.js';
import { CARD, MASKED_CARD, openVault, pathOf, rule, type TestVault, vaultOf, writesNothing } from './vault-fixture.js';

/** The answer without what differs from request to request. */
function essence({ status, headers, text }: Answer): unknown {
  const kept = [...headers].filter(([name]) => !['date', 'svc-trace-id', 'keep-alive'].includes(name));
  return { status, headers: kept, text: text.replace(/"trace_id":"[^"]*"/, '') };
}

describe('GET /tokens/{id}', () => {
  let vault: TestVault;
  before(async () => {
    vault = await openVault();
  });
  after(() => vault.app.close());

  it('byte for byte the same 404 for what never was, is another tenant’s, was deleted or has expired', async () => {
    const other = await vaultOf(vault.app, vault.clock);
    const foreign = (await other.make({ data: 'theirs' })).id;
    const deleted = (await vault.make({ data: 1 })).id;
    await vault.send('DELETE', pathOf(deleted));
    const expired = (await vault.make({ data: 1, expires_at: new Date(vault.clock.nowMs() + 5).toISOString() })).id;
    vault.clock.advance(5);
    const never = '00000000-0000-4000-8000-000000000000';
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { metadata: { a: 'b' } } : undefined;
      const ask = async (id: string) => essence(await vault.send(method, pathOf(id), body));
      const expected = await ask(never);
      assert.equal((expected as { status: number }).status, 404);
      for (const id of [foreign, deleted, expired]) assert.deepEqual(await ask(id), expected, method);
    }
    const unknown = async (id: string) => {
      const { text, ...answer } = await vault.send('POST', '/detokenize', { value: `{{ ${id} }}` });
      return essence({ ...answer, text: text.replaceAll(id, '<id>') });
    };
    const expected = await unknown(never);
    assert.equal((expected as { status: number }).status, 400);
    for (const id of [foreign, deleted, expired]) assert.deepEqual(await unknown(id), expected);
    assert.equal((await other.send('GET', pathOf(foreign))).json.data, 'theirs');
  });

  it('404 and no fault for ids that no token can have', async () => {
    for (const id of [
      '%00',
      'a%00b',
      'x'.repeat(2_000),
      '%F0%9F%98%80',
      'a%2Fb',
      '..%2F..',
      'undefined',
      '__proto__',
    ]) {
      for (const method of ['GET', 'DELETE', 'PATCH']) {
        const { status } = await vault.send(method, `/tokens/${id}`, method === 'PATCH' ? {} : undefined);
        assert.equal(status, 404, `${method} ${id}`);
      }
    }
    assert.equal((await vault.send('GET', '/tokens/%ff')).status, 400);
  });

  it('200 by the first rule that covers the token and lists the permission; reveal, mask and redact', async () => {
    const made = await vault.make({
      type: 'card',
      data: CARD,
      containers: ['/pci/eu/', '/team/'],
      metadata: { a: 'b' },
    });
    const read = ['token:read'];
    const cases: [Parameters<typeof rule>[], readonly string[], unknown][] = [
      [[['reveal', '/pci/', read]], [], CARD],
      [[['mask', '/pci/', read]], [], MASKED_CARD],
      [[['redact', '/', read]], [], undefined],
      [
        [
          ['redact', '/pci/', read, 1],
          ['reveal', '/', read, 2],
        ],
        [],
        undefined,
      ],
      [
        [
          ['redact', '/pci/', read, 2],
          ['reveal', '/team/', read, 1],
        ],
        [],
        CARD,
      ],
      [[['reveal', '/pci/', ['token:search']]], read, MASKED_CARD],
      [[['reveal', '/elsewhere/', read]], read, MASKED_CARD],
    ];
    for (const [rules, permissions, expected] of cases) {
      const key = await vault.keyWith(
        rules.map((args) => rule(...args)),
        permissions,
      );
      const { status, json } = await vault.send('GET', pathOf(made.id), undefined, { key });
      assert.deepEqual([status, json.data, 'data' in json], [200, expected, expected !== undefined]);
      assert.deepEqual(json.metadata, { a: 'b' });
    }
  });

  it('403 access_denied where no rule covers it, on every call, and nothing is written', async () => {
    const { id } = await vault.make({ data: 1, containers: ['/secret/'] });
    const key = await vault.keyWith([rule('reveal', '/public/')]);
    const answers = await writesNothing(vault.app, () =>
      Promise.all([
        vault.send('GET', pathOf(id), undefined, { key }),
        vault.send('DELETE', pathOf(id), undefined, { key }),
        vault.send('PATCH', pathOf(id), { data: 2 }, { key }),
        vault.send('POST', '/detokenize', `{{ ${id} }}`, { key }),
      ]),
    );
    for (const { status, json } of answers) assert.deepEqual([status, json.code], [403, 'access_denied']);
  });

  it('a session sees no more than the Application that authorized it, nor more than it was granted', async () => {
    const { id } = await vault.make({ type: 'card', data: CARD });
    const shop = await vault.app.makeKey(vault.tenant.id, 'public', ['token:create']);
    const seenBy = async (authorizer: string, transform: string) => {
      const { json } = await vault.app.call('POST', '/sessions', { key: shop });
      const rules = [{ priority: 1, container: '/pci/', transform, permissions: ['token:read'] }];
      const body = { nonce: json.nonce, rules };
      const { status } = await vault.app.call('POST', '/sessions/authorize', { key: authorizer, body });
      assert.equal(status, 200);
      return vault.send('GET', pathOf(id), undefined, { key: json.session_key });
    };
    const masking = await vault.keyWith([], ['token:read']);
    assert.deepEqual((await seenBy(vault.key, 'reveal')).json.data, CARD);
    assert.deepEqual((await seenBy(vault.key, 'mask')).json.data, MASKED_CARD);
    assert.deepEqual((await seenBy(masking, 'reveal')).json.data, MASKED_CARD);
    const elsewhere = await vault.keyWith([rule('reveal', '/bank/')]);
    assert.equal((await seenBy(elsewhere, 'reveal')).status, 403);
  });

  it('200 is logged and counted once for each read; HEAD as GET, without a body', async () => {
    const { id } = await vault.make({ data: 1 });
    const got = await vault.send('GET', pathOf(id));
    const head = await vault.send('HEAD', pathOf(id));
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.equal(head.headers.get('content-length'), got.headers.get('content-length'));
    const reads = (await vault.logOf(id)).filter(({ operation }) => operation === 'read');
    assert.deepEqual(
      reads.map(({ message, entity_type }) => [message, entity_type]),
      [
        ['Token retrieved', 'token'],
        ['Token retrieved', 'token'],
      ],
    );
  });

  it('503 and a security line for a row whose type, group, version or content was changed behind our back', async () => {
    const edits = {
      type: `type = 'bank'`,
      group: `group_id = '00000000-0000-4000-8000-000000000000'`,
      version: 'data_version = data_version + 1',
      content: 'sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1)',
    };
    for (const [what, edit] of Object.entries(edits)) {
      const other = await vaultOf(vault.app, vault.clock);
      const { id } = await other.make({ type: 'card', data: CARD });
      await other.app.db.owner.query(`UPDATE tokens SET ${edit} WHERE tenant_id = $1 AND id = $2`, [
        other.tenant.id,
        id,
      ]);
      const from = vault.app.logLines.length;
      for (const [method, path, body] of [
        ['GET', pathOf(id), undefined],
        ['PATCH', pathOf(id), {}],
        ['DELETE', pathOf(id), undefined],
        ['POST', '/detokenize', `{{ ${id} }}`],
      ] as const) {
        const { status, text } = await other.send(method, path, body);
        assert.equal(status, 503, `${what}: ${method}`);
        assert.ok(!text.includes(CARD.number));
      }
      const lines = vault.app.logLines.slice(from).filter((line) => line.includes('integrity_fault'));
      assert.equal(lines.length, 4, what);
      assert.ok(lines.every((line) => line.includes(id) && !line.includes(CARD.number)));
      const { rows } = await other.app.db.owner.query('SELECT 1 FROM tokens WHERE tenant_id = $1', [other.tenant.id]);
      assert.equal(rows.length, 1, 'what does not open is not deleted either');
    }
  });

  it('nothing is shown when the log cannot be written: by id, in lists, by search and in expressions', async () => {
    const { id } = await vault.make({ data: 'never without a trace', metadata: { a: 'b' } });
    await vault.app.db.owner.query('ALTER TABLE logs ADD CONSTRAINT nothing_fits CHECK (false) NOT VALID');
    try {
      const calls: [string, string, unknown?][] = [
        ['GET', pathOf(id)],
        ['GET', `/tokens?id=${id}`],
        ['GET', `/v2/tokens?id=${id}`],
        ['POST', '/tokens/search', { query: `id:${id}` }],
        ['POST', '/v2/tokens/search', { query: `id:${id}` }],
        ['POST', '/detokenize', [`{{ ${id} }}`]],
        ['PATCH', pathOf(id), { metadata: { a: 'c' } }],
        ['DELETE', pathOf(id)],
      ];
      for (const [method, path, body] of calls) {
        const { status, text } = await writesNothing(vault.app, () => vault.send(method, path, body));
        assert.ok(status >= 500, `${method} ${path}`);
        assert.doesNotMatch(text, /never without|"a":/);
      }
    } finally {
      await vault.app.db.owner.query('ALTER TABLE logs DROP CONSTRAINT nothing_fits');
    }
    assert.equal((await vault.send('GET', pathOf(id))).json.metadata.a, 'b');
  });

  it('503 for a row that was moved to another tenant or another id', async () => {
    const other = await vaultOf(vault.app, vault.clock);
    const { id } = await vault.make({ data: 'ours' });
    await vault.app.db.owner.query(`UPDATE tokens SET tenant_id = $1 WHERE id = $2`, [other.tenant.id, id]);
    const moved = await other.send('GET', pathOf(id));
    assert.deepEqual([moved.status, moved.text.includes('ours')], [503, false]);
    const second = await vault.make({ data: 'ours' });
    await vault.app.db.owner.query(`UPDATE tokens SET id = 'renamed' WHERE id = $1`, [second.id]);
    assert.equal((await vault.send('GET', '/tokens/renamed')).status, 503);
  });
});

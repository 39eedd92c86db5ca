import { text } from 'node:stream/consumers';
import { operatorContext } from '../../server/dist/audit/entry.js';
import type { Core } from '../../server/dist/core.js';
import { newId } from '../../server/dist/kernel/ids.js';
import { createApplication } from '../../server/dist/resources/applications/index.js';
import { createTenant, tenantMaker } from '../../server/dist/resources/tenants/index.js';
import { insideProduct } from './inside.js';
import { TOKEN_RIGHTS } from './tenants.js';

export interface MakeVaultTenantsOptions {
  readonly count: number;
}

/** Tenants with a key each that may do everything with tokens, on whatever database the product has; prints the keys. */
const { count }: MakeVaultTenantsOptions = JSON.parse(await text(process.stdin));
const keys = await insideProduct(async (core) => {
  const made: string[] = [];
  while (made.length < count) made.push(await makeOne(core));
  return made;
});
process.stdout.write(`${JSON.stringify(keys)}\n`);

async function makeOne({ database, keyStore }: Core): Promise<string> {
  const id = newId();
  const auditContext = operatorContext(Date.now());
  const maker = await tenantMaker(keyStore);
  const owner = { ownerId: newId(), isNewOwner: true };
  await database.write(id, (tx) => createTenant(tx, maker, auditContext, { name: 'Benchmark', ...owner }));
  const { key } = await database.write(id, (tx) =>
    createApplication(tx, keyStore.systemKeys, auditContext, {
      name: 'Benchmark',
      type: 'private',
      permissions: TOKEN_RIGHTS,
      rules: undefined,
    }),
  );
  return key.reveal();
}

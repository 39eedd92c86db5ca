import type { Product } from './product.js';

/** A tenant whose key may do everything with tokens. */
export interface VaultTenant {
  readonly id: string;
  readonly key: string;
  /** May read the usage report and delete the tenant. */
  readonly managementKey: string;
}

export const TOKEN_RIGHTS = ['create', 'read', 'search', 'update', 'delete'].map((act) => `token:${act}`);

export async function makeVaultTenant(product: Product): Promise<VaultTenant> {
  const id = await makeTenant(product);
  const managementKey = await makeApplication(product, id, 'management', ['tenant:delete', 'report:read']);
  return { id, key: await makeApplication(product, id, 'private', TOKEN_RIGHTS), managementKey };
}

/** A tenant with keys to make Reactors and to run them. */
export interface ReactorTenant {
  readonly managementKey: string;
  readonly key: string;
}

export async function makeReactorTenant(product: Product): Promise<ReactorTenant> {
  const id = await makeTenant(product);
  const managementKey = await makeApplication(product, id, 'management', ['reactor:create', 'proxy:create']);
  return { managementKey, key: await makeApplication(product, id, 'private', ['token:create', 'token:use']) };
}

export async function makeLogTenant(product: Product): Promise<{ readonly id: string; readonly key: string }> {
  const id = await makeTenant(product);
  return { id, key: await makeApplication(product, id, 'management', ['log:read']) };
}

function makeTenant(product: Product): Promise<string> {
  return product.command('tenant', 'create', '--name', 'Benchmark');
}

async function makeApplication(product: Product, tenantId: string, type: string, rights: readonly string[]) {
  const words = ['application', 'create', '--tenant', tenantId, '--type', type, '--json'];
  const made: { key: string } = JSON.parse(
    await product.command(...words, ...rights.flatMap((name) => ['--permission', name])),
  );
  return made.key;
}

import type { Operation, Schema } from './document.js';
import type { Body } from './json-text.js';
import type { Random } from './random.js';
import type { World } from './world.js';

/** What fields of these names hold when they are right; all others follow from their schema. */
const BY_NAME: Readonly<Record<string, Body>> = {
  permissions: ['token:create'],
  container: '/general/',
  containers: ['/general/high/'],
  mask: { value: '{{ data.value | reveal_last: 4 }}' },
  search_indexes: ['{{ data.value }}'],
  fingerprint_expression: '{{ data.value }}',
  metadata: { k: 'v' },
  encryption: { alg: 'none' },
  query: 'type:token AND metadata.k:v',
  priority: 1,
  code: 'module.exports = async ({ args }) => ({ raw: args });',
  configuration: { KEY: 'value' },
};

/** A body that would be accepted, or nearly: wrong kinds are put into it one at a time. */
export function sampleBody(schema: Schema, random: Random, world: World): Body {
  return sampleOf(schema, '$', random, world);
}

function sampleOf(schema: Schema, name: string, random: Random, world: World): Body {
  if (name === 'data' || (name === '$' && schema.type === undefined)) {
    return { value: `${world.secretMark} ${random.text(8, '0123456789abcdef')}` };
  }
  if (name === 'id') return `fuzz-${random.text(16, '0123456789abcdef')}`;
  const named = BY_NAME[name];
  if (named !== undefined) return named;
  if (schema.enum) return schema.enum[0] ?? null;
  switch (schema.type) {
    case 'object':
      return sampleObject(schema, random, world);
    case 'array':
      return schema.items ? [sampleOf(schema.items, `${name}[]`, random, world)] : [];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return random.oneIn(2);
    default:
      return typeof schema.examples?.[0] === 'string' ? schema.examples[0] : `text ${random.below(1_000)}`;
  }
}

function sampleObject({ properties = {}, required = [] }: Schema, random: Random, world: World): Body {
  // Conditions stand for a container in sessions alone, and a cursor has to be a real one: both have parts of their own.
  const names = Object.keys(properties).filter((name) => name !== 'conditions' && name !== 'start');
  const chosen = names.filter((name) => required.includes(name) || name === 'permissions' || random.oneIn(2));
  const entries = chosen.map((name): [string, Body] => [name, sampleOf(properties[name] ?? {}, name, random, world)]);
  return Object.fromEntries(entries);
}

/** Whose key an operation is called with. Settings and applications are changed in a tenant nothing else relies on. */
export function keyFor({ permission, path }: Operation, world: World): string | undefined {
  // Nobody here may: the tenant is still needed. Chains delete one.
  if (permission === 'tenant:delete') return world.main.privateKey;
  if (permission === undefined) return undefined;
  if (permission === 'public application key') return world.main.publicKey;
  // A stored Proxy is shown to whoever looks after it: those there are belong to that tenant.
  if (permission.includes(' or ') && path.includes('{id}')) return world.side.manageKey;
  if (permission === 'private application key' || permission.startsWith('token:')) return world.main.privateKey;
  return world.side.manageKey;
}

/** The path with ids of things that are there. Deleting is left to chains: here it would starve the other cases. */
export function targetFor({ method, path, permission }: Operation, random: Random, world: World): string {
  if (method === 'DELETE' && path !== '/tenants/self') return path.replaceAll(/\{\w+\}/g, 'gone-already');
  if (path.startsWith('/tokens')) return path.replace('{id}', random.pick(world.main.scratchTokenIds));
  if (path.startsWith('/application-templates')) return path.replace('{id}', world.templateId);
  if (path.startsWith('/reactors')) {
    const { main, side } = world;
    const owner = permission?.startsWith('token:') ? main : side;
    return path.replace('{id}', random.pick(owner.reactorIds)).replace('{version}', '1');
  }
  if (path.startsWith('/proxies')) {
    return path.replace('{id}', random.pick(world.side.proxies).id).replace('{version}', '1');
  }
  const { applicationId, keyId } = random.pick(world.side.scratch);
  return path.replace('{id}', applicationId).replace('{key_id}', keyId);
}

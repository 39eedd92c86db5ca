import type { Cluster } from '../cluster.js';
import type { Entity, State } from '../journal.js';
import { field, textAt } from '../plan.js';
import type { LoadTenant } from '../tenants.js';
import { read, readAll, readApplications } from './api.js';
import type { EntriesOf } from './entries.js';
import { tookPlace } from './entries.js';

export interface EntityCheck {
  readonly cluster: Cluster;
  readonly roundId: string;
  readonly entities: Iterable<Entity>;
  readonly entries: EntriesOf;
  readonly violate: (text: string) => void;
}

/** Every token, application and tenant of the round is exactly what its last step that took place made of it. */
export async function checkEntities(check: EntityCheck): Promise<void> {
  const entities = [...check.entities];
  for (const tenant of check.cluster.tenants) {
    const own = entities.filter((entity) => entity.tenant === tenant.index);
    await checkTokens(
      check,
      tenant,
      own.filter(({ kind }) => kind === 'token'),
    );
    await checkApplications(
      check,
      tenant,
      own.filter(({ kind }) => kind === 'application'),
    );
    await checkTenant(
      check,
      tenant,
      own.filter(({ kind }) => kind === 'tenant'),
    );
  }
}

async function checkTokens(check: EntityCheck, tenant: LoadTenant, entities: readonly Entity[]): Promise<void> {
  const path = `/v2/tokens?size=100&metadata.round=${check.roundId}`;
  const shown = await readAll(check.cluster, tenant.tokenKey, path, check.cluster.nodes.length - 1);
  if (shown.some((item) => textAt(item, 'tenant_id') !== tenant.id))
    check.violate('a token of another tenant is listed');
  const byMark = groupBy(shown, (item) => textAt(item, 'metadata', 'mark'));
  compare(check, entities, byMark, (item, state) => {
    if (textAt(item, 'data') !== state.data) return 'another value';
    return String(field(item, 'containers')) === String(state.containers) ? undefined : 'other containers';
  });
}

async function checkApplications(check: EntityCheck, tenant: LoadTenant, entities: readonly Entity[]): Promise<void> {
  const shown = await readApplications(check.cluster, tenant);
  if (shown.some((item) => textAt(item, 'tenant_id') !== tenant.id)) check.violate('an application of another tenant');
  const ofRound = shown.filter((item) => textAt(item, 'name').startsWith(`${check.roundId}-`));
  const byMark = groupBy(ofRound, (item) => textAt(item, 'name').split(' ')[0] ?? '');
  compare(check, entities, byMark, (item, state) => {
    if (textAt(item, 'name') !== state.name) return 'another name';
    const permissions = field(item, 'permissions');
    const held = Array.isArray(permissions) ? permissions.map(String).sort().join() : '';
    return held === [...(state.permissions ?? [])].sort().join() ? undefined : 'other permissions';
  });
}

async function checkTenant(check: EntityCheck, tenant: LoadTenant, entities: readonly Entity[]): Promise<void> {
  for (const node of check.cluster.nodes) {
    const self = await read(check.cluster, tenant.managementKey, '/tenants/self', node.index);
    if (textAt(self, 'id') !== tenant.id) check.violate('another tenant answers');
    for (const entity of entities) {
      const state = expectedState(check, entity);
      if (state !== undefined && textAt(self, 'name') !== state.name)
        check.violate(`${entity.mark}: another tenant name`);
    }
  }
}

function compare(
  check: EntityCheck,
  entities: readonly Entity[],
  byMark: ReadonlyMap<string, readonly unknown[]>,
  difference: (item: unknown, state: State) => string | undefined,
): void {
  const marks = new Set(entities.map(({ mark }) => mark));
  for (const mark of byMark.keys()) if (!marks.has(mark)) check.violate(`${mark}: nobody made this`);
  for (const entity of entities) {
    const found = byMark.get(entity.mark) ?? [];
    const state = expectedState(check, entity);
    const story = entity.steps.map(({ operation }) => `${operation.kind} ${operation.id}`).join(', ');
    const say = (text: string): void => check.violate(`${entity.kind} ${entity.mark}: ${text} (${story})`);
    if (state === undefined && found.length > 0) say('is there and should not be');
    if (state === undefined) continue;
    if (found.length !== 1) say(found.length === 0 ? 'is lost' : `is there ${found.length} times`);
    const [item] = found;
    if (item === undefined) continue;
    const wrong = difference(item, state);
    if (wrong) say(wrong);
    if (entity.id !== undefined && textAt(item, 'id') !== entity.id) say('has another id');
  }
}

function expectedState({ entries }: EntityCheck, entity: Entity): State | undefined {
  return entity.steps.filter(({ operation }) => tookPlace(operation, entries)).at(-1)?.state;
}

function groupBy(items: readonly unknown[], keyOf: (item: unknown) => string): Map<string, unknown[]> {
  const groups = new Map<string, unknown[]>();
  for (const item of items) {
    const key = keyOf(item);
    const known = groups.get(key);
    if (known) known.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

import { choosePlan } from './choose-plan.js';
import type { Cluster } from './cluster.js';
import type { Attempt, Entity, Journal, Operation } from './journal.js';
import { outcomeOf } from './journal.js';
import type { ApiNode } from './node.js';
import type { Plan, WorkerView } from './plan.js';
import { newEntity } from './plan.js';
import type { Random } from './random.js';
import { createSender } from './send.js';
import type { LoadTenant } from './tenants.js';

export interface LoadSize {
  readonly workersPerTenant: number;
  /** Rest of a worker between two operations. */
  readonly pauseMs: readonly [number, number];
}

export interface LoadOptions extends LoadSize {
  readonly cluster: Cluster;
  readonly random: Random;
  readonly journal: Journal;
  readonly roundId: string;
  readonly onWrong: (text: string) => void;
}

export interface Load {
  /** Lets every worker finish what it is at. */
  stop(): Promise<void>;
  /** Repeats what has an idempotency key until its outcome is known, or the time is up. */
  settle(limitMs: number): Promise<void>;
  /** Everything the load ever wrote, or tried to. */
  readonly entities: ReadonlySet<Entity>;
  close(): void;
}

/** Past every bound of the service itself: whoever hears nothing for so long was not forgotten by a slow answer. */
const TIMEOUT_MS = 15_000;
const REPEATS_AT_ONCE = 2;
const KEYED_SHARE = 0.4;
const REST_MS = 50;

/** Three tenants with workers each, every worker one operation at a time, on any node. */
export function startLoad(options: LoadOptions): Load {
  const { cluster, random, journal, roundId } = options;
  const entities = new Set<Entity>();
  const open: { plan: Plan; operation: Operation; tenant: LoadTenant }[] = [];
  let isOver = false;
  const sender = createSender({
    nodes: cluster.nodes,
    journal,
    timeoutMs: TIMEOUT_MS,
    onWrong: options.onWrong,
    addressOf: ({ tenant, worker }) => `10.7.${tenant}.${worker + 1}`,
  });

  function operationOf(plan: Plan, view: WorkerView, worker: number): Operation {
    const id = view.nextMark();
    const isKeyed = plan.mayRepeat && view.random.chance(KEYED_SHARE);
    const operation: Operation = {
      id,
      kind: plan.kind,
      tenant: view.tenant.index,
      worker,
      idempotencyKey: isKeyed ? `key-${id}` : undefined,
      entities: plan.steps.map(({ entity }) => entity),
      attempts: [],
      expected: plan.expected,
      ...(plan.disclosure !== undefined && { disclosure: plan.disclosure }),
    };
    for (const { entity, state } of plan.steps) {
      entities.add(entity);
      entity.steps.push({ operation, state });
    }
    return operation;
  }

  /** What is known to be undone never was a step; what is not known ends the history. */
  function conclude(plan: Plan, operation: Operation, view: WorkerView): void {
    const outcome = outcomeOf(operation);
    for (const { entity, state } of plan.steps) {
      if (outcome === 'unknown') entity.isRetired = true;
      if (outcome === 'refused') entity.steps.splice(entity.steps.findIndex((step) => step.operation === operation));
      const owned = entity.kind === 'token' ? view.tokens : entity.kind === 'application' ? view.applications : [];
      const place = owned.indexOf(entity);
      const isLive = !entity.isRetired && entity.id !== undefined && entity.steps.length > 0 && state !== undefined;
      const isUndone = outcome === 'refused' && place !== -1;
      if (isLive && place === -1) owned.push(entity);
      else if (!isLive && !isUndone && place !== -1) owned.splice(place, 1);
    }
  }

  async function work(tenant: LoadTenant, worker: number): Promise<void> {
    const own = random.fork(`worker ${tenant.index} ${worker}`);
    let count = 0;
    const view: WorkerView = {
      random: own,
      tenant,
      roundId,
      nextMark() {
        count += 1;
        return `${roundId}-t${tenant.index}w${worker}n${count}`;
      },
      tokens: [],
      applications: [],
      tenantEntity: worker === 0 ? newEntity('tenant', tenant.index, `${roundId}-t${tenant.index}`) : undefined,
      foreignToken() {
        const foreign = [...entities].filter((entity) => entity.tenant !== tenant.index && entity.kind === 'token');
        return foreign.length === 0 ? undefined : own.pick(foreign).id;
      },
    };
    while (!isOver) {
      const plan = choosePlan(view);
      const operation = operationOf(plan, view, worker);
      journal.add(operation);
      let attempt = await sender.send(plan, operation, pickNode(cluster.nodes, own), tenant);
      for (let n = 0; n < REPEATS_AT_ONCE && isOpen(operation, attempt); n += 1) {
        attempt = await sender.send(plan, operation, pickNode(cluster.nodes, own), tenant);
      }
      if (operation.idempotencyKey !== undefined && outcomeOf(operation) === 'unknown') {
        open.push({ plan, operation, tenant });
      }
      conclude(plan, operation, view);
      const [min, max] = options.pauseMs;
      await rest(attempt.outcome === 'acknowledged' ? own.between(min, max) : REST_MS);
    }
  }

  const workers = cluster.tenants.flatMap((tenant) =>
    Array.from({ length: options.workersPerTenant }, (_, worker) => work(tenant, worker)),
  );
  return {
    entities,
    async stop() {
      isOver = true;
      await Promise.all(workers);
    },
    async settle(limitMs) {
      const deadlineMs = performance.now() + limitMs;
      for (const { plan, operation, tenant } of open) {
        while (outcomeOf(operation) === 'unknown' && performance.now() < deadlineMs) {
          const attempt = await sender.send(plan, operation, pickNode(cluster.nodes, random), tenant);
          if (attempt.outcome !== 'acknowledged') await rest(REST_MS);
        }
        if (outcomeOf(operation) === 'unknown') options.onWrong(`${operation.id} ${operation.kind}: never answered`);
      }
    },
    close: () => sender.close(),
  };
}

function isOpen(operation: Operation, attempt: Attempt): boolean {
  return operation.idempotencyKey !== undefined && attempt.outcome === 'unknown';
}

function pickNode(nodes: readonly ApiNode[], random: Random): ApiNode {
  return random.pick(nodes);
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

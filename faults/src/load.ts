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

/** Past every bound of the service itself: whoever hears nothing for so long was not forgotten by a slow answer. */
const TIMEOUT_MS = 15_000;
const REPEATS_AT_ONCE = 2;
const KEYED_SHARE = 0.4;
const REST_MS = 50;

interface Open {
  readonly plan: Plan;
  readonly operation: Operation;
  readonly tenant: LoadTenant;
}

/** Three tenants with workers each, every worker one operation at a time, on any node. Starts at once. */
export class Load {
  readonly #options: LoadOptions;
  readonly #sender: ReturnType<typeof createSender>;
  readonly #entities = new Set<Entity>();
  /** Operations with an idempotency key whose outcome is not known. */
  readonly #open: Open[] = [];
  readonly #workers: readonly Promise<void>[];
  #isOver = false;

  constructor(options: LoadOptions) {
    const { cluster, journal, onWrong, workersPerTenant } = options;
    this.#options = options;
    this.#sender = createSender({
      nodes: cluster.nodes,
      journal,
      timeoutMs: TIMEOUT_MS,
      onWrong,
      addressOf: ({ tenant, worker }) => `10.7.${tenant}.${worker + 1}`,
    });
    this.#workers = cluster.tenants.flatMap((tenant) =>
      Array.from({ length: workersPerTenant }, (_, worker) => this.#work(tenant, worker)),
    );
  }

  /** Everything the load ever wrote, or tried to. */
  entities(): ReadonlySet<Entity> {
    return this.#entities;
  }

  /** Lets every worker finish what it is at. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#workers);
  }

  /** Repeats what has an idempotency key until its outcome is known, or the time is up. */
  async settle(limitMs: number): Promise<void> {
    const { cluster, random, onWrong } = this.#options;
    const deadlineMs = performance.now() + limitMs;
    for (const { plan, operation, tenant } of this.#open) {
      while (outcomeOf(operation) === 'unknown' && performance.now() < deadlineMs) {
        const attempt = await this.#sender.send(plan, operation, pickNode(cluster.nodes, random), tenant);
        if (attempt.outcome !== 'acknowledged') await rest(REST_MS);
      }
      if (outcomeOf(operation) === 'unknown') onWrong(`${operation.id} ${operation.kind}: never answered`);
    }
  }

  close(): void {
    this.#sender.close();
  }

  async #work(tenant: LoadTenant, worker: number): Promise<void> {
    const { cluster, journal, pauseMs } = this.#options;
    const view = this.#viewOf(tenant, worker);
    while (!this.#isOver) {
      const plan = choosePlan(view);
      const operation = this.#operationOf(plan, view, worker);
      journal.add(operation);
      let attempt = await this.#sender.send(plan, operation, pickNode(cluster.nodes, view.random), tenant);
      for (let n = 0; n < REPEATS_AT_ONCE && isOpen(operation, attempt); n += 1) {
        attempt = await this.#sender.send(plan, operation, pickNode(cluster.nodes, view.random), tenant);
      }
      if (operation.idempotencyKey !== undefined && outcomeOf(operation) === 'unknown') {
        this.#open.push({ plan, operation, tenant });
      }
      conclude(plan, operation, view);
      const [min, max] = pauseMs;
      await rest(attempt.outcome === 'acknowledged' ? view.random.between(min, max) : REST_MS);
    }
  }

  #viewOf(tenant: LoadTenant, worker: number): WorkerView {
    const { random, roundId } = this.#options;
    const own = random.fork(`worker ${tenant.index} ${worker}`);
    const entities = this.#entities;
    let count = 0;
    return {
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
  }

  #operationOf(plan: Plan, view: WorkerView, worker: number): Operation {
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
      this.#entities.add(entity);
      entity.steps.push({ operation, state });
    }
    return operation;
  }
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

function isOpen(operation: Operation, attempt: Attempt): boolean {
  return operation.idempotencyKey !== undefined && attempt.outcome === 'unknown';
}

function pickNode(nodes: readonly ApiNode[], random: Random): ApiNode {
  return random.pick(nodes);
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

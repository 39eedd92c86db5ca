import type { Entity, State } from './journal.js';
import type { Plan, WorkerView } from './plan.js';
import { field, newEntity, stateOf, textAt } from './plan.js';

const CONTAINERS = [['/general/high/'], ['/load/a/'], ['/load/a/', '/load/b/']] as const;
const TOKENIZED_MAX = 4;
const PAGE = 10;

interface Draft {
  readonly entity: Entity;
  readonly state: State;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A value nobody else has, found by its mark in the metadata and by its data in the index. */
function draft(view: WorkerView): Draft {
  const mark = view.nextMark();
  const state = { data: `${mark} ${view.random.text(24)}`, containers: view.random.pick(CONTAINERS) };
  return {
    entity: newEntity('token', view.tenant.index, mark),
    state,
    body: {
      type: 'token',
      data: state.data,
      containers: state.containers,
      metadata: { mark, round: view.roundId },
      search_indexes: ['{{ data }}'],
    },
  };
}

export function createToken(view: WorkerView): Plan {
  const { entity, state, body } = draft(view);
  return {
    kind: 'create',
    method: 'POST',
    path: '/tokens',
    body,
    good: 201,
    mayRepeat: true,
    steps: [{ entity, state }],
    expected: [{ operation: 'create', entityType: 'token' }],
    onAnswer(answer) {
      entity.id = textAt(answer, 'id');
      return unlike(answer, state);
    },
  };
}

export function createTokenWithId(view: WorkerView): Plan {
  const { entity, state, body } = draft(view);
  entity.id = `chosen-${entity.mark}`;
  return {
    kind: 'create with id',
    method: 'POST',
    path: '/tokens',
    body: { ...body, id: entity.id },
    good: 201,
    mayRepeat: true,
    steps: [{ entity, state }],
    expected: [{ operation: 'create', entityType: 'token', entityId: entity.id }],
    onAnswer: (answer) => unlike(answer, state),
  };
}

export function tokenize(view: WorkerView): Plan {
  const drafts = Array.from({ length: view.random.between(2, TOKENIZED_MAX) }, () => draft(view));
  return {
    kind: 'tokenize',
    method: 'POST',
    path: '/tokenize',
    body: { list: drafts.map(({ body }) => body), fixed: null },
    good: 200,
    mayRepeat: true,
    steps: drafts,
    expected: drafts.map(() => ({ operation: 'create', entityType: 'token' })),
    onAnswer(answer) {
      for (const [n, { entity, state }] of drafts.entries()) {
        const part = field(answer, 'list', n);
        entity.id = textAt(part, 'id');
        const { wrong } = unlike(part, state);
        if (wrong) return { wrong };
      }
      return {};
    },
  };
}

export function patchToken(view: WorkerView, entity: Entity): Plan {
  const before = stateOf(entity);
  const moved = view.random.chance(0.3) ? view.random.pick(CONTAINERS) : before?.containers;
  const state = { data: `${entity.mark} ${view.random.text(24)}`, ...(moved && { containers: moved }) };
  return {
    kind: 'patch',
    method: 'PATCH',
    path: `/tokens/${entity.id}`,
    body: { data: state.data, containers: state.containers },
    good: 200,
    mayRepeat: true,
    steps: [{ entity, state }],
    expected: [{ operation: 'update', entityType: 'token', entityId: entity.id ?? '' }],
    onAnswer: (answer) => unlike(answer, state),
  };
}

export function deleteToken(_view: WorkerView, entity: Entity): Plan {
  return {
    kind: 'delete',
    method: 'DELETE',
    path: `/tokens/${entity.id}`,
    good: 204,
    mayRepeat: false,
    steps: [{ entity, state: undefined }],
    expected: [{ operation: 'delete', entityType: 'token', entityId: entity.id ?? '' }],
  };
}

export function readToken(_view: WorkerView, entity: Entity): Plan {
  const state = stateOf(entity);
  return {
    ...disclosure('read', entity, 'read'),
    method: 'GET',
    path: `/tokens/${entity.id}`,
    onAnswer: (answer) => unlike(answer, state),
  };
}

export function detokenize(_view: WorkerView, entity: Entity): Plan {
  const state = stateOf(entity);
  return {
    ...disclosure('detokenize', entity, 'read'),
    method: 'POST',
    path: '/detokenize',
    body: { value: `{{ ${entity.id} }}` },
    onAnswer: (answer) => (textAt(answer, 'value') === state?.data ? {} : { wrong: 'detokenized to another value' }),
  };
}

export function searchToken(view: WorkerView, entity: Entity): Plan {
  const state = stateOf(entity);
  const query = view.random.chance(0.5) ? `metadata.mark:"${entity.mark}"` : `data:"${state?.data}"`;
  return {
    ...disclosure('search', entity, 'search'),
    method: 'POST',
    path: '/v2/tokens/search',
    body: { query, size: PAGE },
    onAnswer(answer) {
      const found = field(answer, 'data');
      if (!Array.isArray(found) || found.length !== 1) return { wrong: 'a search did not find the one token' };
      return unlike(found[0], state);
    },
  };
}

export function listTokens(view: WorkerView): Plan {
  return {
    kind: 'list',
    method: 'GET',
    path: `/v2/tokens?size=${PAGE}`,
    good: 200,
    mayRepeat: false,
    steps: [],
    expected: undefined,
    disclosure: 'read',
    onAnswer(answer) {
      const items = field(answer, 'data');
      if (!Array.isArray(items)) return { wrong: 'a list without data' };
      const isForeign = items.some((item) => textAt(item, 'tenant_id') !== view.tenant.id);
      const ids = items.map((item) => textAt(item, 'id'));
      return {
        ...(isForeign && { wrong: 'a list shows a token of another tenant' }),
        expected: ids.map((entityId) => ({ operation: 'read', entityType: 'token', entityId })),
      };
    },
  };
}

/** Another tenant's token must not be there. */
export function readForeign(_view: WorkerView, id: string): Plan {
  return {
    kind: 'foreign read',
    method: 'GET',
    path: `/tokens/${id}`,
    good: 404,
    mayRepeat: false,
    steps: [],
    expected: [],
  };
}

function disclosure(kind: string, entity: Entity, operation: string) {
  const expected = [{ operation, entityType: 'token', entityId: entity.id ?? '' }];
  return { kind, good: 200, mayRepeat: false, steps: [], expected };
}

function unlike(answer: unknown, state: State | undefined): { wrong?: string } {
  return textAt(answer, 'data') === state?.data ? {} : { wrong: 'the answer shows another value' };
}

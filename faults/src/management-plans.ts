import type { Entity } from './journal.js';
import type { Plan, WorkerView } from './plan.js';
import { newEntity, textAt } from './plan.js';

/** The mark begins the name of an application for good; what follows it changes. */
const nameOf = (mark: string, text: string): string => `${mark} ${text}`;

export function createApplication(view: WorkerView): Plan {
  const mark = view.nextMark();
  const entity = newEntity('application', view.tenant.index, mark);
  const name = nameOf(mark, view.random.text(8));
  const permissions = ['token:read'];
  return {
    kind: 'create application',
    method: 'POST',
    path: '/applications',
    isManagement: true,
    body: { name, type: 'private', permissions },
    good: 201,
    mayRepeat: true,
    steps: [{ entity, state: { name, permissions } }],
    expected: [{ operation: 'create', entityType: 'application' }],
    onAnswer(answer) {
      entity.id = textAt(answer, 'id');
      return textAt(answer, 'name') === name ? {} : { wrong: 'an application with another name' };
    },
  };
}

export function updateApplication(view: WorkerView, entity: Entity): Plan {
  const name = nameOf(entity.mark, view.random.text(8));
  const permissions = ['token:read', ...(view.random.chance(0.5) ? ['token:create'] : [])];
  return {
    kind: 'update application',
    method: 'PUT',
    path: `/applications/${entity.id}`,
    isManagement: true,
    body: { name, permissions },
    good: 200,
    mayRepeat: true,
    steps: [{ entity, state: { name, permissions } }],
    expected: [{ operation: 'update', entityType: 'application', entityId: entity.id ?? '' }],
  };
}

export function deleteApplication(_view: WorkerView, entity: Entity): Plan {
  return {
    kind: 'delete application',
    method: 'DELETE',
    path: `/applications/${entity.id}`,
    isManagement: true,
    good: 204,
    mayRepeat: false,
    steps: [{ entity, state: undefined }],
    expected: [{ operation: 'delete', entityType: 'application', entityId: entity.id ?? '' }],
  };
}

export function updateTenant(view: WorkerView, entity: Entity): Plan {
  const name = view.nextMark();
  return {
    kind: 'update tenant',
    method: 'PUT',
    path: '/tenants/self',
    isManagement: true,
    // Switching fingerprints on and off changes what the next tokens are written with, never their values.
    body: { name, settings: { fingerprint_tokens: view.random.chance(0.5) ? 'true' : 'false' } },
    good: 200,
    mayRepeat: true,
    steps: [{ entity, state: { name } }],
    expected: [{ operation: 'update', entityType: 'tenant', entityId: view.tenant.id }],
    onAnswer: (answer) => (textAt(answer, 'name') === name ? {} : { wrong: 'a tenant with another name' }),
  };
}

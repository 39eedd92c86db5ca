import type {
  AccessRule,
  AccessRuleInput,
  Application,
  ApplicationTemplate,
  Permission,
} from '../../../api/generated.js';
import type { ApplicationType } from '../application-types.js';
import type { Transform } from '../transforms.js';

/** A rule while it is being written. */
export interface DraftRule {
  /** Stays the same while rules move. */
  readonly key: string;
  readonly description: string;
  readonly priority: string;
  readonly container: string;
  readonly transform: Transform;
  readonly permissions: readonly string[];
}

/** An Application while it is being written. */
export interface ApplicationDraft {
  readonly name: string;
  readonly permissions: readonly string[];
  readonly rules: readonly DraftRule[];
  /** ISO 8601; empty: it has no end. */
  readonly expiresAt: string;
}

export const EMPTY_DRAFT: ApplicationDraft = { name: '', permissions: [], rules: [], expiresAt: '' };

let made = 0;

function newKey(): string {
  made += 1;
  return `rule-${made}`;
}

export function newRule(rules: readonly DraftRule[]): DraftRule {
  const highest = Math.max(0, ...rules.map(({ priority }) => Number(priority) || 0));
  return {
    key: newKey(),
    description: '',
    priority: String(highest + 1),
    container: '',
    transform: 'mask',
    permissions: [],
  };
}

function draftRuleOf({ description, priority, container, transform, permissions }: AccessRule): DraftRule {
  return {
    key: newKey(),
    description: description ?? '',
    priority: String(priority),
    container: container ?? '',
    transform,
    permissions,
  };
}

export function draftOf(application: Application): ApplicationDraft {
  return {
    name: application.name,
    permissions: application.permissions,
    rules: application.rules.map(draftRuleOf),
    expiresAt: application.expires_at ?? '',
  };
}

export function withTemplate(draft: ApplicationDraft, template: ApplicationTemplate): ApplicationDraft {
  return {
    ...draft,
    name: draft.name === '' ? template.name : draft.name,
    permissions: template.permissions,
    rules: template.rules.map(draftRuleOf),
  };
}

function ruleBodyOf({ description, priority, container, transform, permissions }: DraftRule): AccessRuleInput {
  return {
    ...(description !== '' && { description }),
    priority: Number(priority),
    ...(container !== '' && { container }),
    transform,
    permissions,
  };
}

/** As it is sent. */
export function bodyOfDraft(type: ApplicationType, { name, permissions, rules, expiresAt }: ApplicationDraft) {
  return {
    name,
    type,
    permissions,
    ...(type !== 'management' && rules.length > 0 && { rules: rules.map(ruleBodyOf) }),
    ...(expiresAt !== '' && { expires_at: expiresAt }),
  };
}

/** A rule that says where it holds and for what. */
export function isWholeRule({ container, permissions }: DraftRule): boolean {
  return container !== '' && permissions.length > 0;
}

/** What is wrong with a rule is told at these. */
export function fieldsOfDraft({ rules }: ApplicationDraft): readonly string[] {
  const ofRules = rules.flatMap((_, at) =>
    ['container', 'transform', 'permissions', 'description', 'priority'].map((field) => `rules[${at}].${field}`),
  );
  return ['name', 'permissions', 'expires_at', 'rules', ...ofRules];
}

export function mayHold(all: readonly Permission[], type: ApplicationType, name: string): boolean {
  return all.some((permission) => permission.type === name && permission.application_types.includes(type));
}

/** The same for another type: without what that type cannot hold. */
export function fitDraft(draft: ApplicationDraft, type: ApplicationType, all: readonly Permission[]) {
  const holds = (name: string) => mayHold(all, type, name);
  const lost = draft.permissions.filter((name) => !holds(name));
  const rules =
    type === 'management' ? [] : draft.rules.map((rule) => ({ ...rule, permissions: rule.permissions.filter(holds) }));
  return { draft: { ...draft, permissions: draft.permissions.filter(holds), rules }, lost };
}

/** One place up or down. Each place keeps its priority, so the order is what changes. */
export function moveRule(rules: readonly DraftRule[], at: number, by: -1 | 1): readonly DraftRule[] {
  const [one, other] = [rules[at], rules[at + by]];
  if (!one || !other) return rules;
  return rules.map((rule, place) => {
    if (place === at) return { ...other, priority: one.priority };
    return place === at + by ? { ...one, priority: other.priority } : rule;
  });
}

/** As they are tried. */
export function inOrder(rules: readonly DraftRule[]): readonly DraftRule[] {
  return rules.toSorted((one, other) => (Number(one.priority) || 0) - (Number(other.priority) || 0));
}

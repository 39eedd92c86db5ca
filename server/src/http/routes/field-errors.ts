import type { FieldErrors } from '../../kernel/errors.js';
import { ERROR_MESSAGE } from './schema.js';

/** A finding of the validator, as far as it is needed here. */
export interface Finding {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
}

type Params = Readonly<Record<string, unknown>>;

/** Turns findings into field path -> sentences. A schema node with a sentence of its own speaks for all its findings. */
export function messagesOf(schema: object, findings: readonly Finding[]): FieldErrors {
  // A map, because a client may name a field like a member every object has.
  const errors = new Map<string, Set<string>>();
  const add = (path: string, message: string): void => {
    errors.set(path, (errors.get(path) ?? new Set()).add(message));
  };
  for (const finding of findings) {
    const path = fieldPath(finding.instancePath);
    const params = finding.params as Params; // Read as unknown, checked where used.
    const own = ownMessage(schema, finding.schemaPath);
    if (finding.keyword === 'required') {
      for (const name of namesIn(params.requiredProperties)) add(join(path, name), 'is required');
    } else if (finding.keyword === 'boolean') {
      // One for each member an object may not have; its last part is a name, also when it is made of digits.
      const cut = finding.instancePath.lastIndexOf('/');
      const owner = fieldPath(finding.instancePath.slice(0, Math.max(cut, 0)));
      add(join(owner, unescaped(finding.instancePath.slice(cut + 1))), own ?? 'is not known here');
    } else if (finding.keyword !== 'additionalProperties') {
      // The sentence of an object is about its members; that it is no object at all is said in the general words.
      const isNoObject = finding.keyword === 'type' && params.type === 'object';
      add(path || '$', isNoObject ? sentence('type', params) : (own ?? sentence(finding.keyword, params)));
    }
  }
  return Object.fromEntries([...errors].map(([path, messages]) => [path, [...messages]]));
}

function sentence(keyword: string, params: Params): string {
  switch (keyword) {
    case 'type':
      return `must be ${params.type === 'object' || params.type === 'integer' || params.type === 'array' ? 'an' : 'a'} ${String(params.type)}`;
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must be at least ${String(params.limit)} characters long`;
    case 'maxLength':
      return `must be at most ${String(params.limit)} characters long`;
    case 'minimum':
      return `must be at least ${String(params.limit)}`;
    case 'maximum':
      return `must be at most ${String(params.limit)}`;
    case 'enum':
    case 'const':
    case 'anyOf':
      return `must be one of ${namesIn(params.allowedValues).join(', ') || 'the documented values'}`;
    case 'format':
      return formatSentence(String(params.format));
    default:
      return 'is not valid';
  }
}

function formatSentence(format: string): string {
  switch (format) {
    case 'name':
      return 'must not be blank and must not hold NUL or unpaired surrogates';
    case 'text':
      return 'must not hold NUL or unpaired surrogates';
    default:
      return `must be a valid ${format}`;
  }
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** `/settings/a` becomes `settings.a`, `/rules/0/priority` becomes `rules[0].priority`. */
function fieldPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map(unescaped)
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), '');
}

function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

const FIELD_NAME_SHOWN_MAX = 100;

function join(path: string, name: string): string {
  const shown = name.length > FIELD_NAME_SHOWN_MAX ? `${name.slice(0, FIELD_NAME_SHOWN_MAX)}…` : name;
  return path === '' ? shown : `${path}.${shown}`;
}

/** The nearest sentence on the way from the root to the node that was violated. */
function ownMessage(schema: object, schemaPath: string): string | undefined {
  let node: unknown = schema;
  let found: string | undefined;
  for (const part of schemaPath.split('/')) {
    if (part !== '#') node = (node as Params | undefined)?.[part]; // Walks plain schema objects; anything else ends as undefined.
    if (typeof node !== 'object' || node === null) break;
    const message = (node as Params)[ERROR_MESSAGE];
    if (typeof message === 'string') found = message;
    else if (part !== '#' && part !== 'anyOf' && part !== 'properties' && !/^\d+$/.test(part)) found = undefined;
  }
  return found;
}

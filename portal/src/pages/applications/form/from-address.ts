import type { ApplicationTemplate, Permission } from '../../../api/generated.js';
import type { ApplicationType } from '../application-types.js';
import { applicationTypeOf } from '../application-types.js';
import type { ApplicationDraft } from './draft.js';
import { EMPTY_DRAFT, fitDraft, withTemplate } from './draft.js';

export interface Prefilled {
  readonly type: ApplicationType | undefined;
  readonly draft: ApplicationDraft;
  /** Whether more than the type came with the address. */
  readonly isFromLink: boolean;
  /** Asked for by the address, and not possible. */
  readonly lost: readonly string[];
}

/** The form as a link wants it: `?type=&name=&permissions=a,b&template=`. */
export function draftFromAddress(
  search: Readonly<Record<string, string | undefined>>,
  all: readonly Permission[],
  templates: readonly ApplicationTemplate[],
): Prefilled {
  const template = templates.find(({ id, name }) => id === search.template || name === search.template);
  const type = applicationTypeOf(search.type) ?? template?.application_type;
  const isFromLink = [search.name, search.permissions, search.template].some((text) => text !== undefined);
  const isTemplateKnown = search.template === undefined || template !== undefined;
  const started = template ? withTemplate(EMPTY_DRAFT, template) : EMPTY_DRAFT;
  const asked = (search.permissions ?? '').split(',').filter((name) => name !== '');
  const draft = {
    ...started,
    name: search.name ?? started.name,
    permissions: [...new Set([...started.permissions, ...asked])],
  };
  const unknown = isTemplateKnown ? [] : [`template ${search.template}`];
  if (type === undefined) return { type, draft, isFromLink, lost: unknown };
  const fitted = fitDraft(draft, type, all);
  return { type, draft: fitted.draft, isFromLink, lost: [...fitted.lost, ...unknown] };
}

/** A link that fills the form in. Rules do not fit into one. */
export function linkToDraft(type: ApplicationType, { name, permissions }: ApplicationDraft): string {
  const pairs = { type, name, permissions: permissions.join(',') };
  const texts = new URLSearchParams(Object.entries(pairs).filter(([, text]) => text !== ''));
  return `${location.origin}${location.pathname}?${texts}`;
}

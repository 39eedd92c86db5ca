import type { LucideIcon } from 'lucide-react';
import { Globe, Server, Settings2 } from 'lucide-react';
import type { Application } from '../../api/generated.js';
import type { Tone } from '../../ui/badge.js';
import { Badge } from '../../ui/badge.js';

export type ApplicationType = Application['type'];

export interface ApplicationTypeTexts {
  readonly text: string;
  readonly icon: LucideIcon;
  readonly tone: Tone;
  /** Where it runs. */
  readonly lead: string;
  /** What it can do, and what never. */
  readonly more: string;
}

export const APPLICATION_TYPES: Readonly<Record<ApplicationType, ApplicationTypeTexts>> = {
  public: {
    text: 'Public',
    icon: Globe,
    tone: 'warn',
    lead: 'For a browser or a mobile app, where everybody can read its key.',
    more: 'It takes data in. It can never read, search or use what is stored.',
  },
  private: {
    text: 'Private',
    icon: Server,
    tone: 'accent',
    lead: 'For your own servers, where the key stays secret.',
    more: 'It works with tokens. Rules say what it sees of which container.',
  },
  management: {
    text: 'Management',
    icon: Settings2,
    tone: 'plain',
    lead: 'For scripts and deployments that look after the tenant.',
    more: 'It manages Applications, Reactors, Proxies, members and logs. It never touches tokens.',
  },
};

export const TYPE_NAMES: readonly ApplicationType[] = ['public', 'private', 'management'];

export function applicationTypeOf(text: string | undefined): ApplicationType | undefined {
  return TYPE_NAMES.find((name) => name === text);
}

export function TypeBadge({ type }: { readonly type: ApplicationType }) {
  const { text, icon: Icon, tone } = APPLICATION_TYPES[type];
  return (
    <Badge tone={tone}>
      <Icon aria-hidden className="size-3" />
      {text}
    </Badge>
  );
}

import type { AuditContext } from './audit/entry.js';
import type { DroppedMonth } from './audit/partitions.js';
import type { MailOptions } from './mail/mail.js';
import type { OutboundOptions } from './outbound/outbound.js';
import type { PeopleSecurity, SignInStory } from './people/security.js';
import type { AccessHooks } from './resources/applications/index.js';
import type { InvitationsOptions } from './resources/invitations/index.js';
import type { MembersOptions } from './resources/members/index.js';
import type { ProxyStoreOptions } from './resources/proxies/index.js';
import type { StoreOptions } from './resources/reactors/index.js';
import type { ProcessLog } from './telemetry/process-log.js';
import type { VaultOptions } from './vault/index.js';

/** What an operator who watches over security is told, one line each. */
export interface SecurityLog extends Pick<AccessHooks, 'onSecurity'>, PeopleSecurity {
  readonly onRightsAltered: AccessHooks['onIntegrityFault'];
  readonly onTokenAltered: VaultOptions['onIntegrityFault'];
  readonly onSearchBound: VaultOptions['onSearchBound'];
  readonly onReactorAltered: StoreOptions['onReactorAltered'];
  readonly onProxyAltered: ProxyStoreOptions['onProxyAltered'];
  readonly onMemberChanged: MembersOptions['onMemberChanged'];
  readonly onMemberAltered: MembersOptions['onMemberAltered'];
  readonly onInvited: InvitationsOptions['onInvited'];
  readonly onInvitationAltered: InvitationsOptions['onInvitationAltered'];
  readonly onTenantDeleted: (tenantId: string, auditContext: AuditContext) => void;
  readonly onLogsDropped: (dropped: DroppedMonth) => void;
  readonly onOutboundRefused: OutboundOptions['onRefused'];
  readonly onMailDropped: MailOptions['onDropped'];
}

const FAILED_SIGN_INS: readonly SignInStory['event'][] = ['sign_in_failed', 'passkey_cloned'];

export function createSecurityLog({ security }: Pick<ProcessLog, 'security'>): SecurityLog {
  return {
    onSecurity: ({ event, ...story }, auditContext) =>
      security.warn({ event: event.name, ...story, ...byWhom(auditContext) }, 'access changed'),
    onRightsAltered: (story) => security.error({ event: 'integrity_fault', ...story }, 'stored rights were altered'),
    onTokenAltered: (story) => security.error({ event: 'integrity_fault', ...story }, 'a stored token was altered'),
    onSearchBound: (story) =>
      security.warn({ event: 'search_bound', ...story }, 'an Application tried as many values as it may in a day'),
    onReactorAltered: (story) => security.error({ event: 'integrity_fault', ...story }, 'a stored Reactor was altered'),
    onProxyAltered: (story) => security.error({ event: 'integrity_fault', ...story }, 'a stored Proxy was altered'),
    onMemberChanged: ({ event, ...story }, auditContext) =>
      security.warn({ event: event.name, ...story, ...byWhom(auditContext) }, 'member changed'),
    onMemberAltered: (story) => security.error({ event: 'integrity_fault', ...story }, 'a stored member was altered'),
    onInvited: ({ event, ...story }, auditContext) =>
      security.warn({ event: event.name, ...story, ...byWhom(auditContext) }, 'somebody was invited'),
    onInvitationAltered: (story) =>
      security.error({ event: 'integrity_fault', ...story }, 'a stored invitation was altered'),
    onSignIn: (story) =>
      FAILED_SIGN_INS.includes(story.event) ? security.warn(story, 'sign-in failed') : security.info(story, 'sign-in'),
    onNoticeDropped: (story) => security.warn({ event: 'notice_dropped', ...story }, 'a user was not told by mail'),
    onPeopleAltered: (story) => security.error({ event: 'integrity_fault', ...story }, 'a stored sign-in was altered'),
    onTenantDeleted: (tenantId, auditContext) =>
      security.warn({ event: 'tenant_deleted', tenantId, ...byWhom(auditContext) }, 'tenant deleted'),
    onLogsDropped: (dropped) =>
      security.warn({ event: 'logs_dropped', ...dropped }, 'a month of the log was past its retention'),
    onOutboundRefused: (refusal) =>
      security.warn({ event: 'outbound_refused', ...refusal }, 'outbound request refused'),
    onMailDropped: (story) => security.warn({ event: 'mail_dropped', ...story }, 'mail given up'),
  };
}

function byWhom({ actor, traceId }: AuditContext): {
  readonly actor: string | undefined;
  readonly traceId: string | undefined;
} {
  return { actor: actor?.id, traceId };
}

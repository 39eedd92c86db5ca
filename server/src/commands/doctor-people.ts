import type { Config } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import { formatDate } from '../kernel/dates.js';
import { isLoopback } from '../kernel/loopback.js';
import { readMailsWaiting } from '../mail/queries.js';
import { examineSmtp } from '../mail/smtp-mailer.js';
import { parseSmtpUrl } from '../mail/smtp-url.js';
import { createOutbound } from '../outbound/outbound.js';
import { examineIssuers } from '../people/oidc/examine.js';
import { outboundRulesOf } from '../people/oidc/issuers-file.js';
import { isPasskeyHost } from '../people/passkeys/passkeys.js';
import { createPortalAddress } from '../people/portal-address.js';
import type { Database } from '../storage/database.js';
import { printable } from './printable.js';

/** Somebody waits for the answer. */
const EXAMINE_MAX_MS = 5_000;

/** What people sign in with, without the database. What is amiss is a warning: the API works without. */
export async function describePeople(config: Config): Promise<string[]> {
  const [mail, issuers] = await Promise.all([describeMail(config), describeIssuers(config)]);
  return [describePortal(config), mail, ...issuers];
}

function describePortal({ portalUrl, port }: Config): string {
  if (portalUrl === undefined) {
    const here = createPortalAddress(undefined, port).url();
    return `ok       portal: ${here}, for browsers on this machine: STRONGROOM_PORTAL_URL is not set`;
  }
  const { protocol, hostname } = new URL(portalUrl);
  if (protocol !== 'https:' && !isLoopback(hostname)) {
    return `warning  portal: ${portalUrl} is plain HTTP, where browsers keep no session: nobody can sign in. Use https://`;
  }
  return isPasskeyHost(portalUrl)
    ? `ok       portal: ${portalUrl}`
    : `warning  portal: ${portalUrl} is an address of numbers, for which browsers make no passkeys. Use a name`;
}

/** Connects as for a mail, and sends none. */
async function describeMail({ smtpUrl, mailFrom: from }: Config): Promise<string> {
  const target = smtpUrl && parseSmtpUrl(smtpUrl.reveal());
  if (target === undefined || from === undefined) return 'ok       mail: none is sent, STRONGROOM_SMTP_URL is not set';
  const server = `the SMTP server at ${target.host}:${target.port}`;
  const failure = await examineSmtp({ target, from, sendMaxMs: EXAMINE_MAX_MS });
  if (failure === undefined) return `ok       mail: ${server} answers`;
  const why = failure.status === undefined ? failure.code : `${failure.code} ${failure.status}`;
  return `warning  mail: ${server} cannot be used (${why}); mail waits until it can`;
}

async function describeIssuers(config: Config): Promise<string[]> {
  const { oidcIssuers: issuers = [] } = config;
  if (issuers.length === 0) return ['ok       issuers: none, nobody signs in with OpenID Connect'];
  const outbound = createOutbound({
    rules: { allow: config.outboundAllow, deny: config.outboundDeny, public: config.outboundPublic },
    tenants: new Map(),
    product: outboundRulesOf(issuers),
    authorities: config.outboundAuthorities ?? [],
    requestsMax: config.outboundRequestsMax,
    clock: systemClock,
    onRefused: () => {},
  });
  try {
    const found = await examineIssuers(issuers, { outbound, clock: systemClock, timeoutMs: EXAMINE_MAX_MS });
    return found.map(({ name, fault }, index) => {
      const which = `issuer ${index + 1} of ${found.length}, ${printable(name)}`;
      return fault === undefined ? `ok       ${which}: its document is good` : `warning  ${which}: ${fault}`;
    });
  } finally {
    await outbound.close();
  }
}

/** What the queue holds. A mail that waits long is one that the server does not take. */
export async function describeMailsWaiting(config: Config, database: Database): Promise<string> {
  const { count, oldest } = await database.readPeople(readMailsWaiting);
  if (oldest === null) return 'ok       mail queue: no mail waits';
  const waiting = `${count} ${count === 1 ? 'mail waits' : 'mails wait'}, since ${formatDate(oldest.getTime())}`;
  return config.smtpUrl === undefined
    ? `warning  mail queue: ${waiting}, and STRONGROOM_SMTP_URL is not set`
    : `ok       mail queue: ${waiting}`;
}

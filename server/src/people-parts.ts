import { createPortalCookieReader } from './access/portal-cookie-reader.js';
import type { Config } from './config.js';
import type { Core } from './core.js';
import type { PasswordCost } from './crypto/password-hash.js';
import { createPasswordHasher } from './crypto/password-hash.js';
import type { HttpServer, HttpServerOptions } from './http/server.js';
import type { Clock } from './kernel/clock.js';
import type { Mail } from './mail/mail.js';
import { openMail } from './mail/mail.js';
import type { Outbound } from './outbound/outbound.js';
import { createOidc } from './people/oidc/oidc.js';
import type { People } from './people/people.js';
import { createPeople } from './people/people.js';
import { createPortalAddress } from './people/portal-address.js';
import { createUserSessions } from './people/user-sessions.js';
import type { NoteVisit } from './resources/members/index.js';
import { createVisits } from './resources/members/index.js';
import type { SecurityLog } from './security-log.js';
import type { Metrics } from './telemetry/metrics.js';
import type { ProcessLog } from './telemetry/process-log.js';

export interface PeoplePartsOptions {
  readonly config: Config;
  readonly core: Pick<Core, 'database' | 'keyStore'>;
  readonly clock: Clock;
  readonly log: ProcessLog;
  readonly metrics: Metrics;
  /** The way to issuers that vouch for people. */
  readonly outbound: Pick<Outbound, 'send'>;
  readonly upkeepTime?: (databaseMs: number) => number;
  readonly passwordCost?: PasswordCost;
}

/** What the rest of the process needs of people. */
export interface PeopleParts {
  readonly ofResources: {
    readonly people: People;
    readonly portalUrl: () => string;
    readonly mail: Mail | undefined;
    readonly noteVisit: NoteVisit;
  };
  /** How people who are signed in get to the routes. */
  readonly doors: Pick<HttpServerOptions, 'readPortalCookie' | 'portal'>;
  /** Links lead to where the server listens, unless a setting says otherwise. */
  whoseAddressIs(server: HttpServer): Pick<HttpServer, 'listen'>;
  close(): Promise<void>;
}

/** Users, what they sign in with, and mail to them. */
export function openPeople(options: PeoplePartsOptions, security: SecurityLog): PeopleParts {
  const { config, clock, core, outbound, passwordCost: cost } = options;
  const { database, keyStore } = core;
  const { systemKeys } = keyStore;
  const address = createPortalAddress(config.portalUrl, config.port);
  const passwords = createPasswordHasher({ rowMacKey: systemKeys.rowMac, ...(cost && { cost }) });
  const oidc = createOidc({ issuers: config.oidcIssuers ?? [], portalUrl: address.url, outbound, clock });
  const mail = startMail(options, security);
  const people = createPeople({ database, clock, systemKeys, passwords, security, mail, portalUrl: address.url, oidc });
  const noteVisit = createVisits({ database, systemKeys });
  const userSessions = createUserSessions({ people, clock, noteVisit });
  return {
    ofResources: { people, portalUrl: address.url, mail, noteVisit },
    doors: {
      readPortalCookie: createPortalCookieReader(userSessions),
      portal: { sessions: people.sessions, isOwnOrigin: address.isOwnOrigin },
    },
    whoseAddressIs: (server) => ({
      async listen(...where) {
        const port = await server.listen(...where);
        address.listensOn(port);
        return port;
      },
    }),
    close: async () => mail?.close(),
  };
}

/** Undefined where no server for mail is set. */
function startMail(options: PeoplePartsOptions, security: SecurityLog): Mail | undefined {
  const { config, clock, core, log, metrics, upkeepTime } = options;
  const mail = openMail({
    smtpUrl: config.smtpUrl,
    from: config.mailFrom,
    rowMacKey: core.keyStore.systemKeys.rowMac,
    database: core.database,
    clock,
    timeOf: upkeepTime,
    onFault: (error) => log.main.warn({ err: error }, 'work on queued mail failed, will try again'),
    onFailed: (story) => log.main.warn(story, 'mail not sent, will try again'),
    onDropped: security.onMailDropped,
  });
  for (const gauge of mail?.gauges ?? []) metrics.addGauge(gauge);
  return mail;
}

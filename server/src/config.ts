import { ACCESS_SETTINGS } from './access/settings.js';
import { AUDIT_SETTINGS } from './audit/settings.js';
import { CRYPTO_SETTINGS } from './crypto/settings.js';
import { HTTP_SETTINGS } from './http/settings.js';
import { waysInTheClear } from './in-the-clear.js';
import { EXIT, ExitError } from './kernel/exit.js';
import type { Secret } from './kernel/secret.js';
import type { Settings, ValueOf } from './kernel/setting.js';
import { oneOf } from './kernel/setting.js';
import { LIMITS_SETTINGS } from './limits/settings.js';
import { MAIL_SETTINGS } from './mail/settings.js';
import { OUTBOUND_SETTINGS } from './outbound/settings.js';
import { OIDC_SETTINGS } from './people/oidc/settings.js';
import { PEOPLE_SETTINGS } from './people/settings.js';
import { PROXY_SETTINGS } from './resources/proxies/settings.js';
import { REPORTS_SETTINGS } from './resources/reports/settings.js';
import { SANDBOX_SETTINGS } from './sandbox/settings.js';
import { STORAGE_SETTINGS } from './storage/settings.js';
import { TELEMETRY_SETTINGS } from './telemetry/settings.js';
import { VAULT_SETTINGS } from './vault/settings.js';
import { WORKERS_SETTINGS } from './workers/settings.js';

/** What concerns every room. */
const GENERAL_SETTINGS = {
  env: {
    name: 'STRONGROOM_ENV',
    kind: oneOf(['development', 'production']),
    default: 'development',
    about: '`production` turns unsafe settings into errors at start',
  },
} satisfies Settings;

/** Every setting there is, each declared by its room. The reference page is written from this table. */
export const SETTINGS = {
  ...GENERAL_SETTINGS,
  ...HTTP_SETTINGS,
  ...STORAGE_SETTINGS,
  ...CRYPTO_SETTINGS,
  ...LIMITS_SETTINGS,
  ...AUDIT_SETTINGS,
  ...REPORTS_SETTINGS,
  ...ACCESS_SETTINGS,
  ...PEOPLE_SETTINGS,
  ...VAULT_SETTINGS,
  ...SANDBOX_SETTINGS,
  ...OUTBOUND_SETTINGS,
  ...PROXY_SETTINGS,
  ...MAIL_SETTINGS,
  ...OIDC_SETTINGS,
  ...TELEMETRY_SETTINGS,
  ...WORKERS_SETTINGS,
};

export type Config = { readonly [K in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[K]> };

/** Reads every setting once, or reports every fault at once. Nothing else in the product reads the environment. */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, row] of Object.entries(SETTINGS)) {
    const text = env[row.name] || row.default;
    if (text === undefined) continue;
    try {
      values[key] = row.kind.parse(text);
    } catch (error) {
      faults.push(`${row.name} ${error instanceof Error ? error.message : 'is not valid.'}`);
    }
  }
  const config = Object.freeze(values) as Config; // Every key of the table was parsed or is a fault below.
  faults.push(...contradictions(config));
  if (faults.length > 0)
    throw new ExitError(EXIT.configuration, `The settings are not usable:\n  ${faults.join('\n  ')}`);
  return config;
}

/** Names that look like ours but are none: most often a typo. */
export function unknownSettings(env: Readonly<Record<string, string | undefined>> = process.env): string[] {
  const known = new Set(Object.values(SETTINGS).map(({ name }) => name));
  return Object.keys(env).filter((name) => name.startsWith('STRONGROOM_') && !known.has(name));
}

function contradictions(config: Config): string[] {
  const faults: string[] = [];
  if (config.rootKey && config.rootKeyFile) {
    faults.push('STRONGROOM_ROOT_KEY and STRONGROOM_ROOT_KEY_FILE are both set. Keep one.');
  }
  if (config.migrationDatabaseUrl && !config.databaseUrl) {
    faults.push('STRONGROOM_MIGRATION_DATABASE_URL needs STRONGROOM_DATABASE_URL beside it.');
  }
  for (const key of ['databaseListenUrl', 'databaseReplicaUrl'] as const) {
    if (config[key] && !config.databaseUrl)
      faults.push(`${SETTINGS[key].name} needs STRONGROOM_DATABASE_URL beside it.`);
  }
  if (config.smtpUrl && !config.mailFrom) faults.push('STRONGROOM_SMTP_URL needs STRONGROOM_MAIL_FROM beside it.');
  if ((config.ownerEmail === undefined) !== (config.ownerPasswordFile === undefined)) {
    faults.push('STRONGROOM_OWNER_EMAIL and STRONGROOM_OWNER_PASSWORD_FILE need each other. Set both, or neither.');
  }
  if (config.env === 'production' && config.rateLimits === 'off') {
    faults.push('STRONGROOM_RATE_LIMITS=off is for measuring. Set it to on in production.');
  }
  if (config.env === 'production') faults.push(...waysInTheClear({ ...config, databases: databasesOf(config) }));
  return faults;
}

/** Advice on settings that are allowed and may not be what production needs. */
export function settingsAdvice({ searchData }: Config): string[] {
  if (searchData === 'revealed') return [];
  return [
    'STRONGROOM_SEARCH_DATA is masked: who sees only masks can find out a value by searching for it. Set it to revealed, ' +
      'unless somebody must search for values that they may not see.',
  ];
}

function databasesOf(config: Config): Readonly<Record<string, Secret<string> | undefined>> {
  const keys = ['databaseUrl', 'migrationDatabaseUrl', 'databaseListenUrl', 'databaseReplicaUrl'] as const;
  return Object.fromEntries(keys.map((key) => [SETTINGS[key].name, config[key]]));
}

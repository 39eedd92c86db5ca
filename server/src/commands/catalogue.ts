import type { Command } from './command.js';

/**
 * Every command there is, by the words that call it, in the order of the overview. Each is loaded when it is called: all of them
 * together take most of a second.
 */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.js')).serve,
  'tenant create': async () => (await import('./tenant-create.js')).tenantCreate,
  'tenant list': async () => (await import('./tenant-list.js')).tenantList,
  'tenant transfer': async () => (await import('./tenant-transfer.js')).tenantTransfer,
  'user create': async () => (await import('./user-create.js')).userCreate,
  'user list': async () => (await import('./user-list.js')).userList,
  'user reset-password': async () => (await import('./user-reset-password.js')).userResetPassword,
  'user disable': async () => (await import('./user-disable.js')).userDisable,
  'user enable': async () => (await import('./user-enable.js')).userEnable,
  'application create': async () => (await import('./application-create.js')).applicationCreate,
  'key generate': async () => (await import('./key-generate.js')).keyGenerate,
  'root-key generate': async () => (await import('./root-key-generate.js')).rootKeyGenerate,
  'keys rotate': async () => (await import('./keys-rotate.js')).keysRotate,
  'keys rotate-root': async () => (await import('./keys-rotate-root.js')).keysRotateRoot,
  'keys verify': async () => (await import('./keys-verify.js')).keysVerify,
  'tokens export': async () => (await import('./tokens-export.js')).tokensExport,
  'tokens import': async () => (await import('./tokens-import.js')).tokensImport,
  'export-key generate': async () => (await import('./export-key-generate.js')).exportKeyGenerate,
  'logs export': async () => (await import('./logs-export.js')).logsExport,
  'logs purge': async () => (await import('./logs-purge.js')).logsPurge,
  backup: async () => (await import('./backup.js')).backup,
  restore: async () => (await import('./restore.js')).restoreCommand,
  migrate: async () => (await import('./migrate.js')).migrateCommand,
  doctor: async () => (await import('./doctor.js')).doctor,
};

/** Those whose words begin with these; all without any. */
export function loadCommands(first?: string): Promise<Command[]> {
  const chosen = Object.entries(COMMANDS).filter(([name]) => first === undefined || name.startsWith(`${first} `));
  return Promise.all(chosen.map(([, load]) => load()));
}

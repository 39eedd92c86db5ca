/** No server listens beside it on its private socket, so the usual number serves; the socket's name ends in it. */
export const EMBEDDED_PORT = 5432;
export const OWNER_ROLE = 'strongroom_owner';
export const DATABASE = 'strongroom';

/**
 * Settings of the running server, given on its command line, where no file in the cluster can override them. None
 * is newer than PostgreSQL 15.
 */
export function serverSettings(socketDir: string, extra: Readonly<Record<string, string>> = {}): string[] {
  const settings: Record<string, string> = {
    port: String(EMBEDDED_PORT),
    listen_addresses: '',
    // A list to the server: quoted, or a comma in the path would end the first item.
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    shared_buffers: '128MB',
    max_connections: '50',
    jit: 'off',
    // Nothing replicates, so nothing need wait for it.
    max_logical_replication_workers: '0',
    timezone: 'UTC',
    ...QUIET_LOG,
    ...extra,
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * What clients send must never reach the log. An error's own text can quote it (`invalid input syntax for type uuid:
 * "…"`), so errors stay out altogether: `log` ranks above `error` here and keeps only what the server says of itself.
 * Terse leaves out the detail and statement that a crash would quote.
 */
const QUIET_LOG: Readonly<Record<string, string>> = {
  log_destination: 'stderr',
  logging_collector: 'off',
  log_timezone: 'UTC',
  log_min_messages: 'log',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_statement: 'none',
  log_duration: 'off',
  log_min_duration_statement: '-1',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_checkpoints: 'off',
};

/** Where people open the Portal. */
export interface PortalAddress {
  /** Without a slash at the end. */
  readonly url: () => string;
  /** Whether a request of a page came from the Portal's own. */
  isOwnOrigin(origin: string | undefined): boolean;
  /** The server listens here. */
  listensOn(port: number): void;
}

/** Without a setting it is on this machine, under every name that a browser trusts like one with TLS. */
const OWN_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

export function createPortalAddress(given: string | undefined, configuredPort: number): PortalAddress {
  let port = configuredPort;
  const origins = (): readonly string[] =>
    given === undefined ? OWN_HOSTS.map((host) => `http://${host}:${port}`) : [given];
  return {
    url: () => origins()[0] ?? '',
    isOwnOrigin: (origin) => origin !== undefined && origins().includes(origin),
    listensOn(found) {
      port = found;
    },
  };
}

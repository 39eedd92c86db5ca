import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { TlsFiles } from './address.js';

/** Tells the driver how to speak TLS, with the files as they are now: false where it must not. */
export type TlsSource = () => ConnectionOptions | false;

/**
 * The meanings are libpq's: `require` hides what is said from listeners and asks for no proof, unless an authority is
 * named; `verify-ca` asks for a certificate of that authority; `verify-full` also that it is made out to this host.
 */
export function readTls(files: TlsFiles): ConnectionOptions | false {
  if (files.mode === 'disable') return false;
  const ca = read('sslrootcert', files.rootCertFile);
  const cert = read('sslcert', files.certFile);
  const key = read('sslkey', files.keyFile);
  const isNameAsked = files.mode === 'verify-full';
  return {
    rejectUnauthorized: files.mode !== 'require' || ca !== undefined,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(!isNameAsked && { checkServerIdentity: () => undefined }),
  };
}

/** Reads the files for every connection, so that a renewed certificate needs no restart; one that is gone keeps its last. */
export function createTlsSource(files: TlsFiles): TlsSource {
  let last = readTls(files);
  return () => {
    try {
      last = readTls(files);
    } catch {
      // In the middle of being replaced, most likely. The server judges the one we have.
    }
    return last;
  };
}

function read(parameter: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as { code?: unknown }; // Read as unknown and only printed.
    throw new Error(`names a file in ${parameter} that cannot be read (${String(code)}).`, { cause: error });
  }
}

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { certificatesIn } from './certificates.js';

/** What a server that speaks TLS for the length of a test is known by. */
export interface ServerIdentity {
  readonly key: string;
  readonly cert: string;
  /** Whom a client has to trust. */
  readonly authorityFile: string;
  remove(): Promise<void>;
}

/** In a folder of its own, signed by an authority of its own; `names` as in `DNS:localhost,IP:127.0.0.1`. */
export async function makeServerIdentity(names: string): Promise<ServerIdentity> {
  const folder = await mkdtemp('/tmp/sr-identity-');
  const certificates = certificatesIn(folder);
  await certificates.makeAuthority('authority');
  await certificates.makeCertificate('server', 'authority', 'server', names);
  const [key = '', cert = ''] = await Promise.all(
    ['key', 'pem'].map((ending) => readFile(certificates.file(`server.${ending}`), 'utf8')),
  );
  return {
    key,
    cert,
    authorityFile: certificates.file('authority.pem'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

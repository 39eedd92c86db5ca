import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from './find.js';
import { runProgram } from './programs.js';

/** Keys and certificates for servers that live for the length of a test, as files `name.key` and `name.pem` of a folder. */
export interface Certificates {
  file(name: string): string;
  makeAuthority(name: string): Promise<void>;
  /** Signed by the authority of this name; `names` as in `DNS:localhost,IP:127.0.0.1`. One of -1 days has expired. */
  makeCertificate(name: string, authority: string, commonName: string, names: string, days?: 2 | -1): Promise<void>;
}

export function certificatesIn(folder: string): Certificates {
  const file = (name: string): string => join(folder, name);

  async function openssl(...args: string[]): Promise<void> {
    await runProgram(findProgram('openssl') ?? 'openssl', args);
  }

  return {
    file,
    async makeAuthority(name) {
      const files = ['-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)];
      const subject = ['-subj', `/CN=${name}`, '-days', '2', ...files];
      await openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', ...subject);
    },
    async makeCertificate(name, authority, commonName, names, days = 2) {
      const [key, request] = [file(`${name}.key`), file(`${name}.csr`)];
      await openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', key);
      await openssl('req', '-new', '-key', key, '-subj', `/CN=${commonName}`, '-out', request);
      await writeFile(file(`${name}.names`), `subjectAltName=${names}\n`);
      const signer = ['-CA', file(`${authority}.pem`), '-CAkey', file(`${authority}.key`), '-CAcreateserial'];
      const out = ['-days', String(days), '-extfile', file(`${name}.names`), '-out', file(`${name}.pem`)];
      await openssl('x509', '-req', '-in', request, ...signer, ...out);
    },
  };
}

import { webcrypto } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { X509Certificate } from '@peculiar/x509';

/** Keys and certificates for servers that live for the length of a test, as files `name.key` and `name.pem` of a folder. */
export interface Certificates {
  file(name: string): string;
  makeAuthority(name: string): Promise<void>;
  /** Signed by the authority of this name; `names` as in `DNS:localhost,IP:127.0.0.1`. One of -1 days has expired. */
  makeCertificate(name: string, authority: string, commonName: string, names: string, days?: 2 | -1): Promise<void>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 24 * 3_600_000;
const SERIAL_BYTES = 8;

export function certificatesIn(folder: string): Certificates {
  const file = (name: string): string => join(folder, name);
  const issuers = new Map<string, { readonly certificate: X509Certificate; readonly keys: webcrypto.CryptoKeyPair }>();

  async function write(name: string, keys: webcrypto.CryptoKeyPair, certificate: X509Certificate): Promise<void> {
    const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
    const lines = key.match(/.{1,64}/g) ?? [];
    await writeFile(
      file(`${name}.key`),
      `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`,
    );
    await writeFile(file(`${name}.pem`), `${certificate.toString('pem')}\n`);
  }

  return {
    file,
    async makeAuthority(name) {
      const x509 = await loadX509();
      const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      const certificate = await x509.X509CertificateGenerator.createSelfSigned({
        name: `CN=${name}`,
        keys,
        signingAlgorithm: ALGORITHM,
        ...validity(2),
        extensions: [
          new x509.BasicConstraintsExtension(true, undefined, true),
          await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        ],
      });
      issuers.set(name, { certificate, keys });
      await write(name, keys, certificate);
    },
    async makeCertificate(name, authority, commonName, names, days = 2) {
      const x509 = await loadX509();
      const issuer = issuers.get(authority);
      if (issuer === undefined) throw new Error(`no authority is named ${authority}`);
      const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      const alternatives = names.split(',').map((entry) => {
        const [kind = '', value = ''] = entry.split(/:(.*)/s);
        return { type: kind === 'IP' ? ('ip' as const) : ('dns' as const), value };
      });
      const certificate = await x509.X509CertificateGenerator.create({
        subject: `CN=${commonName}`,
        issuer: issuer.certificate.subject,
        publicKey: keys.publicKey,
        signingKey: issuer.keys.privateKey,
        signingAlgorithm: ALGORITHM,
        ...validity(days),
        extensions: [
          new x509.SubjectAlternativeNameExtension(alternatives),
          await x509.AuthorityKeyIdentifierExtension.create(issuer.keys.publicKey),
        ],
      });
      await write(name, keys, certificate);
    },
  };
}

/** Loaded when it is used: most tests that share a process need no certificate. It expects a global that the first import sets. */
async function loadX509(): Promise<typeof import('@peculiar/x509')> {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

/** A serial number of its own, and a time that began or ended so many days from now. */
function validity(days: number) {
  const nowMs = Date.now();
  return {
    serialNumber: Buffer.from(webcrypto.getRandomValues(new Uint8Array(SERIAL_BYTES))).toString('hex'),
    notBefore: new Date(nowMs - 2 * DAY_MS),
    notAfter: new Date(nowMs + days * DAY_MS),
  };
}

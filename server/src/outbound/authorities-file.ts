import { X509Certificate } from 'node:crypto';
import { readSmallFile } from './tenant-rules-file.js';

const FILE_BYTES_MAX = 4 * 1024 * 1024;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates in a PEM file of authorities. None at all, or one that cannot be read, is a fault. */
export function readAuthorities(path: string): readonly string[] {
  const certificates = readSmallFile(path, FILE_BYTES_MAX).match(CERTIFICATE) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate)) {
    throw new Error('names a file that does not hold certificates in PEM form.');
  }
  return certificates;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

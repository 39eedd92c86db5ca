import { readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from './kernel/package-folder.js';

const manifest: { version?: unknown } = JSON.parse(readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8'));

/** The version of the product, from its manifest. */
export const VERSION: string = String(manifest.version);

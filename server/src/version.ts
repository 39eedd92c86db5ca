import { readFileSync } from 'node:fs';

const manifest: { version?: unknown } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** The version of the product, from its manifest. */
export const VERSION: string = String(manifest.version);

import { fileURLToPath } from 'node:url';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The workspace, seen from where this is compiled to. */
export const PORTAL = at('../../');
/** The files that browsers load, as the build leaves them. */
export const SITE = at('../site');
/** What names what they were built from. */
export const STAMP = at('../made-from');
export const DOCUMENTS = ['openapi.json', 'portal.json'].map((name) => at(`../../../openapi/${name}`));
export const GENERATED = at('../../src/api/generated.ts');

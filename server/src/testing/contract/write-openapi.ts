import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { builtDocument, builtPortalDocument, DOCUMENT_FILE, fileText, PORTAL_FILE } from './document.js';

await mkdir(dirname(DOCUMENT_FILE), { recursive: true });
await writeFile(DOCUMENT_FILE, fileText(builtDocument()));
await writeFile(PORTAL_FILE, fileText(builtPortalDocument()));
process.stdout.write(`${DOCUMENT_FILE} and ${PORTAL_FILE} are up to date.\n`);

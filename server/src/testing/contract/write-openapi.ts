import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { builtDocument, DOCUMENT_FILE, fileText } from './document.js';

await mkdir(dirname(DOCUMENT_FILE), { recursive: true });
await writeFile(DOCUMENT_FILE, fileText(builtDocument()));
process.stdout.write(`${DOCUMENT_FILE} is up to date.\n`);

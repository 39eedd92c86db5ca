import { readFile, writeFile } from 'node:fs/promises';
import type { ApiDocument } from './client-of.js';
import { clientOf } from './client-of.js';
import { DOCUMENTS, GENERATED } from './paths.js';

/** The text of the generated client types, from the committed documents. */
export async function generatedText(): Promise<string> {
  const texts = await Promise.all(DOCUMENTS.map((path) => readFile(path, 'utf8')));
  return clientOf(texts.map((text): ApiDocument => JSON.parse(text)));
}

export async function generate(): Promise<void> {
  await writeFile(GENERATED, await generatedText());
}

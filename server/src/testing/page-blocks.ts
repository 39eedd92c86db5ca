import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** The line of text before it, which says what it is. */
  readonly lead: string;
  /** What the reader is to save it as: the file its lead ends with. */
  readonly file: string | undefined;
}

const FENCED = /^```(\w*)\n([\s\S]*?)^```$/gm;
const FILE_AT_END = /`([\w.-]+\.\w+)`:$/;

export async function blocksOf(page: string): Promise<Block[]> {
  const markdown = await readFile(new URL(`../../../${page}`, import.meta.url), 'utf8');
  return blocksIn(markdown);
}

export function blocksIn(markdown: string): Block[] {
  return [...markdown.matchAll(FENCED)].map(({ 1: language = '', 2: text = '', index }) => {
    const lead = markdown.slice(0, index).trimEnd().split('\n').at(-1) ?? '';
    return { language, text, lead, file: FILE_AT_END.exec(lead)?.[1] };
  });
}

/** The whole text of a file that a page shows. */
export function fileIn(blocks: readonly Block[], name: string): string {
  return only(blocks, ({ file }) => file === name, `the file ${name}`).text;
}

/** What a page shows behind a line that ends with these words. */
export function shownBehind(blocks: readonly Block[], words: string): string {
  return only(blocks, ({ lead }) => lead.endsWith(words), `a block behind "${words}"`).text;
}

function only(blocks: readonly Block[], isIt: (block: Block) => boolean, what: string): Block {
  const [block, ...others] = blocks.filter(isIt);
  assert.ok(block !== undefined && others.length === 0, `the page has ${what}, once`);
  return block;
}

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Text whose ids are all alike, for telling whether the rest is. */
export function withoutIds(text: string): string {
  return text.trim().replaceAll(UUID, '<id>');
}

/// <reference lib="es2024.string" />

/** What a line says; only `line` makes one, so no value gets into a mail as it was given. */
export class MessageLine {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const VALUE_CHARACTERS_MAX = 200;
/** Also what changes the direction of writing, or leaves no mark: with these a name can look like another text. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;
/** Mail programs make links of what looks like an address. A joiner that leaves no mark keeps them from it. */
const LINK_CHARACTERS = /[.:/@]/g;
const NO_BREAK = '\u2060';

/** One line of a message. Each text in it is a name that somebody chose: it can add no line, no header and no link. */
export function line(texts: TemplateStringsArray, ...values: readonly (string | MessageLine)[]): MessageLine {
  const shown = values.map((value) => (value instanceof MessageLine ? value.text : shownValue(value)));
  return new MessageLine(texts.map((text, at) => text + (shown[at] ?? '')).join(''));
}

function shownValue(value: string): string {
  const plain = value.toWellFormed().replace(UNSEEN, ' ').trim();
  const characters = [...plain];
  const cut =
    characters.length > VALUE_CHARACTERS_MAX ? `${characters.slice(0, VALUE_CHARACTERS_MAX).join('')}…` : plain;
  return cut.replace(LINK_CHARACTERS, (character) => `${character}${NO_BREAK}`);
}

/** An instant as people of every time zone can read it. */
export function instantText(atMs: number): MessageLine {
  return new MessageLine(`${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`);
}

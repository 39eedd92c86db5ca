import type { MailMessage } from '../mailer.js';
import type { MessageLine } from './line.js';
import type { PortalLink } from './portal-link.js';

export interface MessageParts {
  readonly kind: string;
  readonly subject: MessageLine;
  /** One paragraph each. */
  readonly before: readonly MessageLine[];
  readonly link?: { readonly label: string; readonly to: PortalLink };
  readonly after: readonly MessageLine[];
}

const BODY_STYLE = 'font-family: sans-serif; font-size: 16px; line-height: 1.5; color: #1a1a1a; max-width: 36em';

/** The same content as text and as HTML. Nothing in it is fetched from anywhere. */
export function composeMessage({ kind, subject, before, link, after }: MessageParts): MailMessage {
  const href = link?.to.reveal();
  const paragraphs = (lines: readonly MessageLine[]): string[] => lines.map(({ text }) => `<p>${escapeHtml(text)}</p>`);
  const anchor =
    link && href !== undefined
      ? [`<p><a href="${escapeHtml(href)}">${escapeHtml(link.label)}</a></p>`, `<p>${escapeHtml(href)}</p>`]
      : [];
  const body = [...paragraphs(before), ...anchor, ...paragraphs(after)].join('\n');
  const texts = [
    ...before.map(({ text }) => text),
    ...(href === undefined ? [] : [href]),
    ...after.map(({ text }) => text),
  ];
  return {
    kind,
    subject: subject.text,
    text: `${texts.join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"></head>\n<body style="${BODY_STYLE}">\n${body}\n</body>\n</html>\n`,
  };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

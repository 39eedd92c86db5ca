import { useState } from 'react';

export interface Draft<Content, Stored = unknown> {
  /** What was stored when it was begun: what differs from this was changed here. */
  readonly base: Stored;
  readonly content: Content;
  readonly isChanged: boolean;
  /** Somebody else changed what is stored since this draft was begun. */
  readonly isOutdated: boolean;
  change(parts: Partial<Content>): void;
  /** Goes back to what is stored. */
  reset(): void;
}

interface Dated {
  readonly modified_at?: string | undefined;
}

interface Held<Stored, Content> {
  readonly base: Stored;
  readonly content: Content;
}

/** What is being edited, until it is saved. What is stored takes its place as long as nothing was changed. */
export function useDraft<Stored extends Dated, Content>(
  stored: Stored,
  contentOf: (stored: Stored) => Content,
): Draft<Content, Stored> {
  const [held, hold] = useState<Held<Stored, Content>>();
  const isChanged = held !== undefined && !isSame(held.content, contentOf(held.base));
  const { base, content } = held && isChanged ? held : { base: stored, content: contentOf(stored) };
  return {
    base,
    content,
    isChanged,
    // Not by content: secrets become dots when a sign-in grows old, and nobody changed them.
    isOutdated: isChanged && base.modified_at !== stored.modified_at,
    change: (parts) =>
      hold((now) => {
        const from =
          now && !isSame(now.content, contentOf(now.base)) ? now : { base: stored, content: contentOf(stored) };
        return { base: from.base, content: { ...from.content, ...parts } };
      }),
    reset: () => hold(undefined),
  };
}

/** Drafts are plain values. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

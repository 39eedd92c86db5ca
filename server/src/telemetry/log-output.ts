import { write } from 'node:fs';

/** Where log lines go. Never waited for while serving, never a reason to stop. */
export interface LogOutput {
  write(text: string): void;
  /** Writes what has gathered now instead of when a block is full. */
  hurry(): void;
  /** Resolves when everything is written, or soon after if it cannot be. */
  drain(): Promise<void>;
}

const BLOCK_CHARACTERS = 32_768;
/** Past this, when whoever reads has stalled, lines are dropped: memory must not grow with a stuck pipe. */
const BACKLOG_CHARACTERS_MAX = 16_777_216;
const HURRY_INTERVAL_MS = 500;
const RETRY_MS = 20;
const DRAIN_MAX_MS = 1_000;

/**
 * Gathers lines and writes them in blocks from a helper thread. A general log stream flushes synchronously at the worst
 * moments, and then waits for ever on a reader that has stalled or gone: here such lines are dropped instead.
 */
export function openLogOutput(fd: number): LogOutput {
  let pending = '';
  let isWriting = false;
  let isDead = false;
  const onEmpty: (() => void)[] = [];

  function pump(): void {
    if (isWriting || pending === '') return;
    isWriting = true;
    const block = Buffer.from(pending);
    pending = '';
    writeFrom(block, 0);
  }

  function writeFrom(block: Buffer, offset: number): void {
    write(fd, block, offset, block.length - offset, null, (error, written) => {
      if (error?.code === 'EAGAIN' || error?.code === 'EBUSY') {
        setTimeout(() => writeFrom(block, offset), RETRY_MS).unref();
      } else if (error) {
        // Nobody will read this log again.
        isDead = true;
        pending = '';
        finish();
      } else if (offset + written < block.length) {
        writeFrom(block, offset + written);
      } else {
        finish();
      }
    });
  }

  function finish(): void {
    isWriting = false;
    if (pending.length >= BLOCK_CHARACTERS || onEmpty.length > 0) pump();
    if (!isWriting) for (const tell of onEmpty.splice(0)) tell();
  }

  setInterval(pump, HURRY_INTERVAL_MS).unref();
  return {
    write(text) {
      if (isDead || pending.length + text.length > BACKLOG_CHARACTERS_MAX) return;
      pending += text;
      if (pending.length >= BLOCK_CHARACTERS) pump();
    },
    hurry: pump,
    drain: () =>
      new Promise((resolve) => {
        if (!isWriting && pending === '') {
          resolve();
          return;
        }
        const timer = setTimeout(resolve, DRAIN_MAX_MS);
        onEmpty.push(() => {
          clearTimeout(timer);
          resolve();
        });
        pump();
      }),
  };
}

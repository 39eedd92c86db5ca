import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that wait on one connection; what comes then is refused. */
export const PIPELINED_MAX = 32;

/**
 * The order of requests that a client sends on one connection without waiting for answers. Node hands them over as they come;
 * but whoever sends a change and then a read means the read to see the change. So they run one after the other, unless all
 * that are under way change nothing.
 */
export interface Pipelines {
  /** True where its turn is now: it counts as running from here on. */
  startNow(request: IncomingMessage): boolean;
  /** Runs it when its turn has come. False, and nothing is run, where too many wait already: whoever calls refuses it. */
  wait(request: IncomingMessage, run: () => void): boolean;
  /** An answer was given on this connection. */
  leave(socket: Socket): void;
}

interface Waiting {
  readonly isSafe: boolean;
  readonly run: () => void;
}

interface Line {
  running: number;
  /** Nothing that runs changes anything. */
  isSafe: boolean;
  readonly waiting: Waiting[];
}

const LINE = Symbol('strongroom.line');
type Lined = Socket & { [LINE]?: Line };

const SAFE_METHODS = new Set<string | undefined>(['GET', 'HEAD', 'OPTIONS']);

export function createPipelines(): Pipelines {
  return {
    startNow({ socket, method }) {
      const line = lineOf(socket);
      const isSafe = SAFE_METHODS.has(method);
      if (line.waiting.length > 0 || !mayStart(line, isSafe)) return false;
      begin(line, isSafe);
      return true;
    },
    wait({ socket, method }, run) {
      const line = lineOf(socket);
      if (line.waiting.length < PIPELINED_MAX) {
        line.waiting.push({ isSafe: SAFE_METHODS.has(method), run });
        return true;
      }
      // Its answer is given at once and leaves again.
      line.running += 1;
      return false;
    },
    leave(socket) {
      const line = lineOf(socket);
      line.running -= 1;
      // In a turn of its own: answers that are given at once would nest without end.
      if (line.waiting.length > 0) process.nextTick(startNext, line);
    },
  };
}

function startNext(line: Line): void {
  for (let [next] = line.waiting; next && mayStart(line, next.isSafe); [next] = line.waiting) {
    line.waiting.shift();
    begin(line, next.isSafe);
    next.run();
  }
}

function mayStart(line: Line, isSafe: boolean): boolean {
  return line.running === 0 || (isSafe && line.isSafe);
}

function begin(line: Line, isSafe: boolean): void {
  line.isSafe = isSafe;
  line.running += 1;
}

function lineOf(socket: Lined): Line {
  const known = socket[LINE];
  if (known) return known;
  const made: Line = { running: 0, isSafe: true, waiting: [] };
  socket[LINE] = made;
  return made;
}

import type { DestinationStream, Logger } from 'pino';
import pino from 'pino';
import { describeError } from './describe-error.js';
import { openLogOutput } from './log-output.js';

/** Lines for the operator. The security stream is the same log, each line marked `"stream":"security"`. */
export interface ProcessLog {
  readonly main: Logger;
  readonly security: Logger;
  /** One line a request. Takes a fixed set of members, none of which is text a client chose freely. */
  readonly request: (line: RequestLine) => void;
  /** Whole lines of another process, which that one has already made safe to show. */
  readonly pass: (lines: string) => void;
  /** Writes out what is buffered, or gives up soon: nobody may be reading. Await it before the process ends. */
  flush(): Promise<void>;
}

export interface RequestLine {
  readonly atMs: number;
  /** As the HTTP parser knows it, so it is one of a fixed set. */
  readonly method: string | undefined;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  /** The canonical text of an address. */
  readonly address: string;
  readonly traceId: string;
  readonly tenantId: string | undefined;
  readonly applicationId: string | undefined;
}

/** Members that never reach a line, wherever a careless caller puts them. */
const REDACTED = [
  'key',
  'apiKey',
  'api_key',
  'rootKey',
  'secret',
  'password',
  'authorization',
  'cookie',
  'headers',
  'body',
  'data',
];
const REDACTED_PATHS = REDACTED.flatMap((name) => [name, `*.${name}`]);

export interface ProcessLogOptions {
  readonly level: string;
  /** Where lines go; standard output by default. */
  readonly destination?: DestinationStream;
  /** Which of several processes this is; each line then says so. */
  readonly worker?: number;
}

/** The number pino gives to `warn`. */
const WARN = 40;
const STANDARD_OUTPUT = 1;

/**
 * Ordinary lines are written in blocks, because one write a line costs a tenth of the throughput. The security stream
 * and everything from `warn` up is handed to the system at once.
 */
export function createProcessLog(options: ProcessLogOptions): ProcessLog {
  const output = options.destination === undefined ? openLogOutput(STANDARD_OUTPUT) : undefined;
  const destination = output ?? options.destination ?? { write: () => {} };
  const base = options.worker === undefined ? null : { worker: options.worker };
  const common = { level: options.level, base, formatters: { level: (label: string) => ({ level: label }) } };
  let lines = '';
  // Handed over once a turn of the event loop: the lines of all requests answered in it cost one call.
  const handOver = (): void => {
    if (lines !== '') destination.write(lines);
    lines = '';
  };
  const addLine = (line: string): void => {
    if (lines === '') setImmediate(handOver);
    lines += line;
  };
  const main = pino(
    {
      ...common,
      redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
      serializers: { err: describeError },
      hooks: {
        logMethod(args, method, level) {
          method.apply(this, args);
          if (level >= WARN) output?.hurry();
        },
      },
    },
    destination,
  );
  return {
    main,
    security: main.child({ stream: 'security' }, { level: options.level === 'silent' ? 'silent' : 'info' }),
    request: (line) => {
      if (main.isLevelEnabled('info')) addLine(requestLine(line, options.worker));
    },
    pass: (text) => {
      destination.write(text);
      // Where they come from they were gathered already, or did not want to wait.
      output?.hurry();
    },
    async flush() {
      handOver();
      await output?.drain();
    },
  };
}

/**
 * Written by hand: with a line for every request, a general serialiser and the search for members to redact would cost
 * more than answering. Only the trace id is the client's own text, and it is escaped.
 */
function requestLine(line: RequestLine, worker: number | undefined): string {
  const who =
    line.tenantId === undefined ? '' : `,"tenantId":"${line.tenantId}","applicationId":"${line.applicationId}"`;
  const where = worker === undefined ? '' : `,"worker":${worker}`;
  return (
    `{"level":"info","time":${line.atMs}${where},"method":"${line.method}","route":"${line.route}","status":${line.status},` +
    `"ms":${line.ms},"address":"${line.address}","traceId":${quoted(line.traceId)}${who},"msg":"request"}\n`
  );
}

/** Hardly any needs escaping, and to look takes less time than to do it. */
function quoted(text: string): string {
  return /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/.test(text) ? `"${text}"` : JSON.stringify(text);
}

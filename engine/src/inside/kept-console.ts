/** What code prints in a test of it: kept for whoever runs the test, and for nobody else. */
export interface Line {
  readonly level: string;
  readonly text: string;
}

const LEVELS = ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const;
const CHARACTERS_MAX = 64 * 1024;
/** The server shows no more lines than this, and refuses an answer that holds very many. */
const LINES_MAX = 1_000;
const { stringify } = JSON;

let lines: Line[] = [];
let characters = 0;
let isKept = false;

for (const level of LEVELS) {
  console[level] = (...values: unknown[]): void => {
    if (!isKept || characters >= CHARACTERS_MAX || lines.length >= LINES_MAX) return;
    const text = textOf(values).slice(0, CHARACTERS_MAX - characters);
    characters += text.length + level.length;
    lines.push({ level, text });
  };
}

export function beginConsole(keeps: boolean): void {
  isKept = keeps;
  lines = [];
  characters = 0;
}

export function consoleLines(): readonly Line[] {
  return lines;
}

function textOf(values: readonly unknown[]): string {
  try {
    return values.map((value) => (typeof value === 'string' ? value : stringify(value))).join(' ');
  } catch {
    return '[cannot be printed]';
  }
}

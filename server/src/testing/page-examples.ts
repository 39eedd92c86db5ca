/** Something a page tells its reader to type, and what the page says comes of it. */
export interface Example {
  readonly page: string;
  readonly line: number;
  readonly command: string;
  /** Undefined where the page does not show it. */
  readonly output: string | undefined;
  /** The first of its block. */
  readonly isFirst: boolean;
  /** What has to be there for its block, by the name of a setup. */
  readonly setup: string | undefined;
  /** Why it cannot be run. */
  readonly notRun: string | undefined;
}

/** What a reader copies out of an answer: `KEY=key_mgt_…`. */
export interface Assignment {
  readonly page: string;
  readonly line: number;
  readonly assignment: string;
}

export type ExampleStep = Example | Assignment;

const PROMPT = '$ ';
const FENCE = /^```/;
const ASSIGNMENT = /^[A-Z]+=\S+( \S+)*$/;
/** A comment above a block, which a reader of the rendered page does not see. */
const REMARK = /^<!-- (setup|not run): (.+) -->$/;

/** Every example of a page, in its order. */
export function examplesIn(page: string, markdown: string): ExampleStep[] {
  const lines = markdown.split('\n');
  const steps: ExampleStep[] = [];
  let at = 0;
  let remark: RegExpExecArray | null = null;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    at += 1;
    if (REMARK.test(line)) remark = REMARK.exec(line);
    if (!FENCE.test(line)) continue;
    const end = lines.findIndex((each, n) => n >= at && FENCE.test(each));
    steps.push(...stepsOf(page, lines.slice(at, end), at, remark));
    remark = null;
    at = end + 1;
  }
  return steps;
}

function stepsOf(
  page: string,
  lines: readonly string[],
  offset: number,
  remark: RegExpExecArray | null,
): ExampleStep[] {
  const steps: ExampleStep[] = [];
  if (!lines.some((line) => line.startsWith(PROMPT) || ASSIGNMENT.test(line))) return [];
  let at = 0;
  while (at < lines.length) {
    const line = offset + at + 1;
    const text = lines[at] ?? '';
    at += 1;
    if (!text.startsWith(PROMPT)) {
      if (ASSIGNMENT.test(text)) steps.push({ page, line, assignment: text });
      continue;
    }
    let command = text.slice(PROMPT.length);
    while (isUnfinished(command) && at < lines.length) {
      command += `\n${lines[at]}`;
      at += 1;
    }
    const from = at;
    while (at < lines.length && !lines[at]?.startsWith(PROMPT) && !ASSIGNMENT.test(lines[at] ?? '')) at += 1;
    const output = lines.slice(from, at).join('\n').trim();
    steps.push({
      page,
      line,
      command,
      output: output === '' ? undefined : output,
      isFirst: steps.length === 0,
      setup: remark?.[1] === 'setup' ? remark[2] : undefined,
      notRun: remark?.[1] === 'not run' ? remark[2] : undefined,
    });
  }
  return steps;
}

function isUnfinished(command: string): boolean {
  return command.endsWith('\\') || command.split("'").length % 2 === 0;
}

/** What differs from run to run, by how it looks. */
const KINDS = {
  id: '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
  time: '\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}\\+00:00',
  key: 'key_(?:mgt|pvt|pub|ses|prx)_[A-Za-z0-9]{32}',
  exportKey: 'exportpub1_[A-Za-z0-9_-]{43}_[0-9a-f]{8}',
  rootKey: 'rk-[0-9a-f]{12}',
  nonce: '(?<="nonce": ?")[A-Za-z0-9]{22}(?=")',
  cursor: '(?<="(?:after|next)":")[A-Za-z0-9_-]{40,}(?=")',
} as const;

const VARYING = new RegExp(
  Object.entries(KINDS)
    .map(([kind, form]) => `(?<${kind}>${form})`)
    .concat('(?<cut_id>[0-9a-f]{8}-…)', '(?<left_out>…)')
    .join('|'),
  'g',
);

/** What stands on the page, and what it was in this run. */
export class Bindings {
  private readonly places = new Map<string, string>();
  private readonly actual = new Map<string, string>();

  /** For an address or a folder, which is another one in every run. */
  place(shown: string, actual: string): void {
    this.places.set(shown, actual);
  }

  bind(shown: string, actual: string): void {
    this.actual.set(shown, actual);
  }

  /** A command as it would be typed in this run. */
  apply(text: string): string {
    return replaced(replaced(text, this.places), this.actual);
  }

  /**
   * Undefined if the answer is what the page shows, else what was looked for. Ids, times and the like may be others, but the
   * same one must be the same everywhere; what the page leaves out may be anything.
   */
  mismatch(page: string, actual: string): string | undefined {
    const shown = replaced(page, this.places);
    const names: string[] = [];
    let pattern = '';
    let from = 0;
    for (const match of shown.matchAll(VARYING)) {
      pattern += escaped(shown.slice(from, match.index));
      from = match.index + match[0].length;
      pattern += this.patternOf(match, names);
    }
    const whole = new RegExp(`^${pattern}${escaped(shown.slice(from))}$`, 's');
    const found = whole.exec(actual);
    if (found === null) return String(whole);
    for (const [n, name] of names.entries()) this.actual.set(name, found[n + 1] ?? '');
    return undefined;
  }

  private patternOf({ 0: text, groups = {} }: RegExpExecArray, names: string[]): string {
    if (groups.left_out !== undefined) return '.*?';
    if (groups.cut_id !== undefined) return this.patternOfCut(text.slice(0, -1));
    const known = this.actual.get(text);
    if (known !== undefined) return escaped(known);
    const before = names.indexOf(text);
    if (before !== -1) return `\\${before + 1}`;
    names.push(text);
    const [kind] = Object.entries(groups).find(([, value]) => value !== undefined) ?? [];
    return `(${KINDS[kind as keyof typeof KINDS]})`; // Every other group is one of these.
  }

  /** An id of which the page shows the beginning: the whole of it was shown before. */
  private patternOfCut(beginning: string): string {
    const [, actual] = [...this.actual].find(([shown]) => shown.startsWith(beginning)) ?? [];
    return actual === undefined ? KINDS.id : escaped(actual);
  }
}

/** An answer in one line, as it comes: on the page it is folded at spaces. */
export function unfolded(shown: string): string {
  return shown.replaceAll(/\n +/g, '');
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

function replaced(text: string, values: ReadonlyMap<string, string>): string {
  let result = text;
  for (const [shown, actual] of values) result = result.replaceAll(shown, actual);
  return result;
}

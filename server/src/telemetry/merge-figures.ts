/** Metrics of one process or of several, read back from the text of a scrape. */
export interface Figures {
  readonly families: Map<string, Family>;
}

interface Family {
  readonly help: string;
  readonly type: string;
  /** By name and labels, as in the text. */
  readonly samples: Map<string, number>;
}

/** Of a process, not of the service: a sum would hide the one that grows. */
const OF_ONE_PROCESS = /^strongroom_process_/;
/** Claims that hold for the node only if they hold for every process. */
const CLAIMS: readonly string[] = [
  'strongroom_changes_heard',
  'strongroom_rate_store_up',
  'strongroom_replica_serving',
];

export function noFigures(): Figures {
  return { families: new Map() };
}

/** Reads what `createMetrics` writes: no timestamps, each family in one piece under its two comments. */
export function readFigures(text: string): Figures {
  const figures = noFigures();
  let help = '';
  let family: Family | undefined;
  for (const line of text.split('\n')) {
    const [, comment, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (comment === 'HELP') help = rest;
    else if (comment === 'TYPE') {
      family = { help, type: rest, samples: new Map() };
      figures.families.set(name, family);
    } else if (line !== '') {
      const end = line.lastIndexOf(' ');
      family?.samples.set(line.slice(0, end), Number(line.slice(end + 1)));
    }
  }
  return figures;
}

/** Adds the figures of one process. What belongs to the process alone is told apart by its name. */
export function addFigures(sum: Figures, part: Figures, worker: string): void {
  for (const [name, { help, type, samples }] of part.families) {
    const family = sum.families.get(name) ?? { help, type, samples: new Map<string, number>() };
    sum.families.set(name, family);
    for (const [sample, value] of samples) {
      const known = family.samples.get(sample);
      if (OF_ONE_PROCESS.test(name)) family.samples.set(`${sample}{worker="${worker}"}`, value);
      else if (known === undefined) family.samples.set(sample, value);
      else family.samples.set(sample, CLAIMS.includes(name) ? Math.min(known, value) : known + value);
    }
  }
}

/** What stays true of a process that has ended: how much it had done. */
export function lastingFigures(figures: Figures): Figures {
  const lasting = [...figures.families].filter(([name, { type }]) => type !== 'gauge' && !OF_ONE_PROCESS.test(name));
  return { families: new Map(lasting) };
}

export function renderFigures({ families }: Figures): string {
  const lines: string[] = [];
  for (const [name, { help, type, samples }] of families) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const [sample, value] of samples) lines.push(`${sample} ${value}`);
  }
  return [...lines, ''].join('\n');
}

import { firstLine, scriptPath } from '../scripts.js';
import type { Workshop } from '../workshop.js';
import type { AlternatingOptions, AlternatingResult } from './alternating.js';
import type { LoadOptions, LoadResult } from './closed.js';
import type { OpenLoadOptions, OpenLoadResult } from './open.js';

/** Fails loudly when anything was answered with other than 2xx. */
export async function runLoad(workshop: Workshop, options: LoadOptions): Promise<LoadResult> {
  const result: LoadResult = JSON.parse(await send(workshop, options));
  if (Object.keys(result.refused).length > 0) {
    throw new Error(`of ${result.requests} requests some were refused: ${JSON.stringify(result.refused)}`);
  }
  if (result.requests === 0) throw new Error('no request was answered');
  return result;
}

/** For load of which some may well be refused. */
export async function runRefusableLoad(workshop: Workshop, options: LoadOptions): Promise<LoadResult> {
  return JSON.parse(await send(workshop, options));
}

export async function runOpenLoad(workshop: Workshop, options: OpenLoadOptions): Promise<OpenLoadResult> {
  return JSON.parse(await send(workshop, options));
}

/** Fails loudly when anything was answered with other than 2xx. */
export async function runAlternating(workshop: Workshop, options: AlternatingOptions): Promise<void> {
  const { refused }: AlternatingResult = JSON.parse(await send(workshop, options));
  if (Object.keys(refused).length > 0) throw new Error(`some requests were refused: ${JSON.stringify(refused)}`);
}

async function send(workshop: Workshop, options: LoadOptions | OpenLoadOptions | AlternatingOptions): Promise<string> {
  const { child, stop } = workshop.spawn([scriptPath('load/process')], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin?.end(JSON.stringify(options));
  const line = await firstLine(child, /^(\{.*\})$/);
  await stop();
  return line;
}

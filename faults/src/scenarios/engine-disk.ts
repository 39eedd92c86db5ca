import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CodeUnderTest } from '../code-runs.js';
import { makeCode, react, tellOf, within } from '../code-runs.js';
import { makeDisk } from '../disk.js';
import type { Scenario, Undo } from '../scenario.js';

const ECHO = 'module.exports = async () => ({ raw: 1 });';
const MEGABYTES = 16;
const SOON_MS = 20_000;
let code: CodeUnderTest;

/** Empty files take no room, but each is an entry: makes them until there is none left, and gives their folder. */
async function useUp(mountPoint: string): Promise<string> {
  const folder = await mkdtemp(join(mountPoint, 'crumbs-'));
  for (let n = 0; ; n += 1) {
    try {
      await writeFile(join(folder, String(n)), '');
    } catch {
      return folder;
    }
  }
}

/** No instance can be started while there is no room for its folder: 503, and nothing else fails. */
export const engineDiskFull: Scenario = {
  name: 'disk-full-engines',
  about: 'the disk where engines have their folders is full, then has room again',
  needs: ['a file system of its own'],
  shortCount: 1,
  longCount: 5,
  async setUp(cluster) {
    code = await makeCode(cluster, 0, ECHO);
  },
  async inject(round): Promise<Undo> {
    const disk = await makeDisk(MEGABYTES);
    await chmod(disk.mountPoint, 0o777);
    const settings = { ...round.cluster.settings, TMPDIR: disk.mountPoint, STRONGROOM_REACTOR_BLANKS: '0' };
    const node = await round.cluster.startExtra(settings);
    const first = await react(node, code);
    if (tellOf(first) !== '200') round.violate(`with room: ${tellOf(first)}`);
    const fresh = await makeCode(round.cluster, 0, `${ECHO} // ${round.id}`);
    await disk.fill();
    const crumbs = await useUp(disk.mountPoint);
    const startedMs = performance.now();
    const full = await react(node, fresh);
    if (tellOf(full) !== '503 overloaded') round.violate(`without room: ${tellOf(full)}`);
    if (performance.now() - startedMs > SOON_MS) round.violate('the refusal took too long');
    const warm = await react(node, code);
    if (tellOf(warm) !== '200') round.violate(`what was warm, without room: ${tellOf(warm)}`);
    return async () => {
      await rm(crumbs, { recursive: true });
      await disk.free();
      const isBack = await within(SOON_MS, async () => tellOf(await react(node, fresh)) === '200');
      if (!isBack) round.violate('it did not come back with room');
      await node.end('SIGTERM');
      await disk.remove();
    };
  },
};

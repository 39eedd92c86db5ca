import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Arch } from './launcher.js';

/** What `npm run build` makes for this machine. */
export interface BuiltEngine {
  readonly arch: Arch;
  /** The engine's program. */
  readonly program: string;
  /** Holds the engine's two configurations, and nothing else. */
  readonly folder: string;
  readonly launcher: string;
}

export const BUILT = fileURLToPath(new URL('../dist/built', import.meta.url));
const PACKAGES: Readonly<Record<Arch, string>> = {
  x64: '@cloudflare/workerd-linux-64',
  arm64: '@cloudflare/workerd-linux-arm64',
};

/** With or without the just-in-time compiler: V8 takes that from its configuration alone. */
export function configurationName(isJitless: boolean): string {
  return isJitless ? 'config-jitless.bin' : 'config.bin';
}

export function launcherPath(of: Arch): string {
  return join(BUILT, `launch-${of}`);
}

/** The engine's program for this machine; undefined where there is none. */
export function engineProgram(): { readonly arch: Arch; readonly program: string } | undefined {
  const own = arch();
  if (platform() !== 'linux' || (own !== 'x64' && own !== 'arm64')) return undefined;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${PACKAGES[own]}/package.json`);
    return { arch: own, program: join(dirname(manifest), 'bin', 'workerd') };
  } catch {
    return undefined;
  }
}

/** Undefined where the engine does not run or was not built. */
export function findEngine(): BuiltEngine | undefined {
  const found = engineProgram();
  if (found === undefined) return undefined;
  const built = { ...found, folder: join(BUILT, 'engine'), launcher: launcherPath(found.arch) };
  const configurations = [false, true].map((isJitless) => join(built.folder, configurationName(isJitless)));
  const isWhole = [built.program, built.launcher, ...configurations].every((path) => existsSync(path));
  return isWhole ? built : undefined;
}

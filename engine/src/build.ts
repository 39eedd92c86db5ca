import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { configurationText } from './configuration.js';
import type { Arch } from './launcher.js';
import { launcherImage } from './launcher.js';
import type { PackageSource } from './packages.js';
import { PACKAGE_SOURCES } from './packages.js';
import { BUILT, configurationName, engineProgram, launcherPath } from './paths.js';

/** The step of `npm run build` behind the compiler: everything the sandbox is started from, made again only when it changed. */

const INSIDE = fileURLToPath(new URL('./inside', import.meta.url));
const STAMP = join(BUILT, 'made-from');
const ARCHES: readonly Arch[] = ['x64', 'arm64'];
const MODULES_OF_LOADER = ['cloudflare:workers', 'package-texts', 'tenant-main', 'tenant-require'];
const MODULES_OF_TENANT = ['tenant-code', 'require-with'];

const found = engineProgram();
// Elsewhere there is no wall, so there is nothing to build; the service says so when somebody asks for it.
if (found && stampIsOld(fingerprint())) await make(found.program);

async function make(program: string): Promise<void> {
  rmSync(BUILT, { recursive: true, force: true });
  const work = join(BUILT, 'work');
  mkdirSync(work, { recursive: true });
  await bundle('loader.js', work, { format: 'esm', external: MODULES_OF_LOADER });
  await bundle('tenant-main.js', work, { format: 'esm', external: MODULES_OF_TENANT });
  await bundle('tenant-require.js', work, { format: 'cjs' });
  for (const source of PACKAGE_SOURCES) await bundlePackage(source, work);
  mkdirSync(join(BUILT, 'engine'));
  for (const isJitless of [false, true]) compile(program, work, isJitless);
  for (const arch of ARCHES) writeProgram(launcherPath(arch), launcherImage(arch));
  rmSync(work, { recursive: true });
  writeFileSync(STAMP, fingerprint());
}

function compile(program: string, work: string, isJitless: boolean): void {
  const names = PACKAGE_SOURCES.map(({ name }) => name);
  const source = join(work, 'config.capnp');
  writeFileSync(source, configurationText(names, isJitless));
  const configuration = execFileSync(program, ['compile', '--config-only', source], { maxBuffer: 64 * 1024 * 1024 });
  writeFileSync(join(BUILT, 'engine', configurationName(isJitless)), configuration);
}

/** A program that runs cannot be written over, but it can be replaced. */
function writeProgram(path: string, image: Buffer): void {
  const fresh = `${path}.new`;
  writeFileSync(fresh, image);
  chmodSync(fresh, 0o755);
  renameSync(fresh, path);
}

function bundlePackage({ name, entry, isDefault }: PackageSource, work: string): Promise<void> {
  const unwrapped = { footer: { js: 'module.exports = module.exports.default;' } };
  return bundle(entry, work, { format: 'cjs', outfile: join(work, `${name}.cjs`), ...(isDefault && unwrapped) });
}

async function bundle(entry: string, work: string, options: BuildOptions): Promise<void> {
  await build({
    entryPoints: [entry.endsWith('.js') ? join(INSIDE, entry) : entry],
    outfile: join(work, entry),
    absWorkingDir: INSIDE,
    bundle: true,
    minify: true,
    platform: 'node',
    mainFields: ['main', 'module'],
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    ...options,
  });
}

/** Of everything that what is built depends on: our compiled files, and the exact versions of the packages. */
function fingerprint(): string {
  const own = dirname(fileURLToPath(import.meta.url));
  const files = [own, INSIDE].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.js') && !name.endsWith('.test.js'))
      .sort()
      .map((name) => join(folder, name)),
  );
  const hash = createHash('sha256');
  for (const file of [...files, join(own, '..', 'package.json')]) hash.update(readFileSync(file));
  return hash.digest('hex');
}

function stampIsOld(wanted: string): boolean {
  return !existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== wanted;
}

import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { buildWhereChanged } from '@strongroom/portal/changed.js';
import { build } from 'esbuild';

const SERVER = fileURLToPath(new URL('../../server/', import.meta.url));
const BUNDLED = `${SERVER}dist/bundled`;
/** The first names every source of the server by its hash. */
const SOURCES = ['dist/.tsbuildinfo', '../package-lock.json', '../tools/dist/bundle-server.js'];
/** Packages in CommonJS call `require`, which a module does not have. */
const REQUIRE = `import * as bannerModule from 'node:module'; const require = bannerModule.createRequire(import.meta.url);`;

/**
 * Bundles the compiled server with the packages it imports, if it changed. Loading the bundle takes a third of the time.
 * Commands are files of their own, loaded when they are called, and stack traces lead to the sources.
 */
export async function bundleServer(): Promise<void> {
  await buildWhereChanged({
    folder: SERVER,
    sources: SOURCES,
    stamp: `${SERVER}dist/bundled-from`,
    make: async () => {
      await rm(BUNDLED, { recursive: true, force: true });
      await build({
        entryPoints: [`${SERVER}dist/commands/run.js`],
        outdir: BUNDLED,
        bundle: true,
        splitting: true,
        format: 'esm',
        platform: 'node',
        target: 'node20.19',
        // Not bundled, because the engine and the Portal read files that lie next to their modules.
        external: ['@strongroom/*'],
        banner: { js: REQUIRE },
        // Names stay, so that a stack trace can be read without the source maps too.
        minifyWhitespace: true,
        sourcemap: true,
        sourcesContent: false,
        logLevel: 'warning',
      });
    },
  });
}

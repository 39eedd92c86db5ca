import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { buildWhereChanged, filesIn } from './changed.js';
import { PORTAL, SITE, STAMP } from './paths.js';

/** The step of `npm run build` behind the compiler: what browsers load, made again only when it changed. */

const SOURCES = ['src', 'public', 'index.html', 'package.json', 'build', '../package-lock.json'];
const COMPRESSIBLE = /\.(js|css|html|svg|json)$/;
/** Editors are loaded where code is written, and nowhere else. */
const EVERYWHERE =
  /node_modules\/(?!(?:@codemirror|@lezer|codemirror|crelt|style-mod|w3c-keyname|@marijn|lean-qr)\/)|portal\/src\/(?:api|session|shell|tenant|ui)\/|vite\/preload-helper/;
/** Pages that share most of what they are made of. The editor itself is not in it: it comes when code is shown. */
const CODE_PAGES = /portal\/src\/(?:code\/(?!mount-editor)|pages\/(?:definitions|proxies|reactors)\/)/;
const CHUNKS = [
  { name: 'base', test: EVERYWHERE },
  { name: 'code-pages', test: CODE_PAGES },
  { name: 'application-pages', test: /portal\/src\/pages\/applications\// },
  { name: 'token-pages', test: /portal\/src\/pages\/tokens\// },
  {
    name: 'account-pages',
    test: /portal\/src\/pages\/(?:account\/|set-up|accept-invitation|ways-back|choose-credential)/,
  },
  { name: 'log-pages', test: /portal\/src\/pages\/(?:logs|overview|usage)\// },
];
const LEAST_BYTES = 1_024;

await buildWhereChanged({
  ...{ folder: PORTAL, sources: SOURCES, stamp: STAMP },
  make: async () => {
    await bundle();
    await compressAll();
  },
});

async function bundle(): Promise<void> {
  // Loaded only where something is to be built: it takes a second.
  const [{ build }, { default: react }, { default: tailwind }] = await Promise.all([
    import('vite'),
    import('@vitejs/plugin-react'),
    import('@tailwindcss/vite'),
  ]);
  await build({
    root: PORTAL,
    base: '/portal/',
    configFile: false,
    logLevel: 'warn',
    plugins: [react(), tailwind()],
    build: {
      outDir: SITE,
      emptyOutDir: true,
      // Browsers that know trusted types and passkeys know all of these.
      target: 'es2023',
      modulePreload: { polyfill: false },
      // A small file inside another one is a `data:` address, which the policy allows for pictures alone.
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 700,
      // What every page needs is one file; a page is another. Without this each shared component becomes a request of its own.
      rolldownOptions: { output: { codeSplitting: { groups: CHUNKS } } },
    },
  });
}

async function compressAll(): Promise<void> {
  const files = (await filesIn(SITE)).filter((path) => COMPRESSIBLE.test(path));
  await Promise.all(
    files.map(async (path) => {
      const content = await readFile(path);
      if (content.length < LEAST_BYTES) return;
      const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
      await writeFile(`${path}.br`, await promisify(brotliCompress)(content, { params }));
      await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }));
    }),
  );
}

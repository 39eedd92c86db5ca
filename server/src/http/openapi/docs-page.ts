import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { once } from '../routes/page-folder.js';
import type { PageRoute } from '../routes/page-route.js';
import { definePage } from '../routes/page-route.js';
import { DOCS_START } from './docs-start.js';

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Strongroom API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="icon" href="data:,">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** The browser is told to load from here alone, so the page cannot call any other host. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

interface DocsFile {
  readonly path: string;
  readonly type: string;
  readonly load: () => string | Promise<Buffer>;
}

/** The API document as a page. The viewer comes from the installed package and is read when first asked for. */
function docsFiles(): DocsFile[] {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const fromPackage = (file: string) => once(() => readFile(join(folder, file)));
  const script = 'text/javascript; charset=utf-8';
  return [
    { path: '/docs', type: 'text/html; charset=utf-8', load: () => PAGE },
    { path: '/docs/start.js', type: script, load: () => DOCS_START },
    { path: '/docs/swagger-ui.css', type: 'text/css; charset=utf-8', load: fromPackage('swagger-ui.css') },
    { path: '/docs/swagger-ui-bundle.js', type: script, load: fromPackage('swagger-ui-bundle.js') },
  ];
}

export function docsPages(): PageRoute[] {
  return docsFiles().map(({ path, type, load }) =>
    definePage({
      path,
      permission: 'public',
      admits: 'anyone',
      limits: [],
      policy: POLICY,
      cache: 'never',
      find: async () => ({ type, content: await load() }),
    }),
  );
}

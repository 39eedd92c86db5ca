import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';

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

const START = `window.ui = SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null, tryItOutEnabled: true,
});
`;

/** The browser is told to load from here alone, so the page cannot call any other host. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the API document as a page. The viewer comes from the installed package, read when first asked for. */
export function mountDocsPage(server: FastifyInstance): void {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const fromPackage = (file: string) => () => readFile(join(folder, file));
  const files = [
    { path: '/docs', type: 'text/html; charset=utf-8', load: async () => PAGE },
    { path: '/docs/start.js', type: 'text/javascript; charset=utf-8', load: async () => START },
    { path: '/docs/swagger-ui.css', type: 'text/css; charset=utf-8', load: fromPackage('swagger-ui.css') },
    {
      path: '/docs/swagger-ui-bundle.js',
      type: 'text/javascript; charset=utf-8',
      load: fromPackage('swagger-ui-bundle.js'),
    },
  ];
  for (const { path, type, load } of files) {
    server.get(path, async (_request, reply) => {
      const content = await load();
      return reply.header('Content-Type', type).header('Content-Security-Policy', POLICY).send(content);
    });
  }
}

/** The paths of the page, so that a wrong method on them is told from an unknown path. */
export const DOCS_ROUTES = ['/docs', '/docs/start.js', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js'].map(
  (path) => ({ method: 'GET', path }) as const,
);

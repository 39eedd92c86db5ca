import type { Responder } from '../transport/respond.js';
import type { RouteRunner } from './prepare-route.js';

const LINKS = {
  name: 'Strongroom',
  api_page: '/docs',
  openapi: '/openapi.json',
  health: '/healthz',
  readiness: '/readyz',
};

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Strongroom</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <h1>Strongroom</h1>
    <p>This is an API. <a href="/docs">The API page</a> shows every call and sends them; <a href="/openapi.json">openapi.json</a> describes them for programs.</p>
  </body>
</html>
`;

const POLICY = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const HTML = ['Content-Type', 'text/html; charset=utf-8', 'Content-Security-Policy', POLICY, 'Vary', 'Accept'];
const JSON_TYPE = ['Content-Type', 'application/json', 'Vary', 'Accept'];

/** The first thing somebody tries who has nothing but the address: a page for people, the same as JSON for programs. */
export function homeRunner(respond: Responder): { method: 'GET'; path: string; target: RouteRunner } {
  return {
    method: 'GET',
    path: '/',
    target(exchange) {
      exchange.context.route = 'GET /';
      const isPerson = exchange.request.headers.accept?.toLowerCase().includes('text/html') === true;
      respond.file(exchange, isPerson ? HTML : JSON_TYPE, isPerson ? PAGE : JSON.stringify(LINKS));
    },
  };
}

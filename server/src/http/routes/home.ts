import { prefersPage } from '../transport/accept.js';
import type { PageRoute } from './page-route.js';
import { definePage } from './page-route.js';

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
const HTML = { type: 'text/html; charset=utf-8', content: PAGE };
const JSON_FILE = { type: 'application/json', content: JSON.stringify(LINKS) };

/** The first thing somebody tries who has nothing but the address: a page for people, the same as JSON for programs. */
export function homePage(): PageRoute {
  return definePage({
    path: '/',
    permission: 'public',
    admits: 'anyone',
    limits: [],
    policy: POLICY,
    cache: 'never',
    headers: ['Vary', 'Accept'],
    find: ({ accept }) => (prefersPage(accept ?? '') ? HTML : JSON_FILE),
  });
}

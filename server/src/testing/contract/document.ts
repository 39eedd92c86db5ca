import { createSecretKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { buildOpenApi } from '../../http/openapi/openapi.js';
import { operatorRoutes } from '../../http/operator-routes.js';
import type { RouteRecord } from '../../http/routes/route.js';
import { Rendered } from '../../http/routes/route.js';
import { VERSION } from '../../version.js';
import { idlePortalRoutes, idlePortalStreams, idleRoutes } from '../idle-routes.js';
import type { TestApp } from '../test-app.js';

export const DOCUMENT_FILE = 'openapi/openapi.json';
export const RELEASED_FILE = 'openapi/released.json';
/** Calls of the Portal's own pages, for the client of the Portal: no part of the API, and free to change with it. */
export const PORTAL_FILE = 'openapi/portal.json';

export type DocumentObject = { readonly [name: string]: unknown };

/** Every route there is, to be looked at and not called: nothing runs behind them. */
export function allRoutes(): RouteRecord[] {
  const tenantApi = idleRoutes(nothingBehind());
  return [
    ...tenantApi,
    ...operatorRoutes(
      { version: VERSION, reactors: () => ({ status: 'starting' }), checkReady: async () => {} },
      tenantApi,
    ),
  ];
}

/** The document as a server of this very build would serve it. */
export function builtDocument(): DocumentObject {
  const route = allRoutes().find(({ path }) => path === '/openapi.json');
  const rendered = route?.handle({} as never); // It looks at nothing of the request.
  if (!(rendered instanceof Rendered)) throw new Error('the document is served as it was rendered');
  return JSON.parse(rendered.json.text);
}

/** The calls of the Portal's own pages in the same form. No server serves it. */
export function builtPortalDocument(): DocumentObject {
  const app = nothingBehind();
  const [routes, streams] = [idlePortalRoutes(app), idlePortalStreams(app)];
  return JSON.parse(JSON.stringify(buildOpenApi({ version: VERSION, routes, streams })));
}

/** The text of the committed file. Paths and components stand in alphabetical order, so that moved records move nothing here. */
export function fileText(document: DocumentObject): string {
  const components = Object.entries(document.components as DocumentObject).map(
    ([kind, named]) => [kind, sorted(named)] as const,
  );
  const written = { ...document, paths: sorted(document.paths), components: Object.fromEntries(components) };
  return `${JSON.stringify(written, null, 2)}\n`;
}

export async function readDocument(file: string): Promise<DocumentObject> {
  return JSON.parse(await readFile(file, 'utf8'));
}

function sorted(named: unknown): DocumentObject {
  return Object.fromEntries(Object.entries(named as DocumentObject).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A stand-in for database and keys while routes are made. Only the key for MACs is looked at: others are derived from it. */
function nothingBehind(): TestApp {
  const rowMac = createSecretKey(Buffer.alloc(32));
  const nothing: object = new Proxy(() => nothing, {
    get: (_, name) => (name === 'rowMac' ? rowMac : nothing),
    apply: () => nothing,
  });
  return nothing as TestApp;
}

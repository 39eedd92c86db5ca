import type { Round, Side } from './alternate.js';
import { runLoad } from './load/run.js';
import type { Plot } from './page/plot.js';
import type { Bench } from './plan.js';
import type { Product } from './product.js';
import { card, wire } from './requests.js';
import { seedTokens } from './seed.js';
import { summaryOf } from './statistics.js';
import { makeVaultTenant } from './tenants.js';

/** Requests of each path that is measured on more than one arrangement of the product. */
export interface CommonPaths {
  readonly [path: string]: readonly string[];
}

const TOKENS_TO_READ = 2_000;
const CONNECTIONS = 64;

export async function commonPaths(product: Product, names: readonly string[]): Promise<CommonPaths> {
  const tenant = await makeVaultTenant(product);
  const ids = await seedTokens(product.port, tenant.key, TOKENS_TO_READ);
  const paths: CommonPaths = {
    'GET /tenants/self': [wire('GET', '/tenants/self', product.key)],
    'create a card': [wire('POST', '/tokens', tenant.key, JSON.stringify(card()))],
    'read a card': ids.map((id) => wire('GET', `/tokens/${id}`, tenant.key)),
  };
  return Object.fromEntries(Object.entries(paths).filter(([name]) => names.includes(name)));
}

export function sideOf({ plan, workshop }: Bench, product: Product, requests: readonly string[]): Side {
  return {
    run: () => runLoad(workshop, { port: product.port, requests, connections: CONNECTIONS, seconds: plan.seconds }),
    watched: product.watched,
  };
}

/** Rates of the arrangements side by side: a series for each path. */
export function ratePlot(
  plot: { readonly name: string; readonly title: string; readonly xLabel: string; readonly names: readonly string[] },
  series: readonly { readonly name: string; readonly byPlace: readonly (readonly Round[])[] }[],
): Plot {
  return {
    name: plot.name,
    title: plot.title,
    x: { label: plot.xLabel, scale: 'names', names: plot.names },
    y: { label: 'requests a second', scale: 'log' },
    series: series.map(({ name, byPlace }) => ({
      name,
      points: byPlace.map((rounds, x) => {
        const { mid, low, high } = summaryOf(rounds.map(({ perSecond }) => perSecond));
        return { x, y: mid, low, high };
      }),
    })),
  };
}

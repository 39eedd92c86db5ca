import { runLoad, startBareHttp } from './processes.js';
import { median, printTable, spread } from './report.js';

export interface HttpRatioOptions {
  readonly port: number;
  readonly key: string;
  readonly rounds: number;
  readonly seconds: number;
}

const CONNECTIONS = 64;
const PATHS = ['/tenants/self', '/permissions'] as const;

/** Reads against bare `node:http` that answers the same bytes, turn by turn in the same run. */
export async function measureHttpRatio(options: HttpRatioOptions): Promise<void> {
  const rows: string[][] = [];
  for (const path of PATHS) {
    const sample = await fetch(`http://127.0.0.1:${options.port}${path}`, { headers: { 'SVC-API-KEY': options.key } });
    const body = await sample.text();
    const headers = Object.fromEntries([...sample.headers].filter(([name]) => !HOP_HEADERS.has(name)));
    const bare = await startBareHttp(headers, body);
    const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nSVC-API-KEY: ${options.key}\r\n\r\n`;
    const ratios: number[] = [];
    const product: number[] = [];
    const floor: number[] = [];
    const p99: number[] = [];
    const measure = (port: number) =>
      runLoad({ port, requests: [request], connections: CONNECTIONS, seconds: options.seconds });
    await measure(options.port);
    await measure(bare.port);
    for (let round = 0; round < options.rounds; round += 1) {
      const below = await measure(bare.port);
      const ours = await measure(options.port);
      ratios.push(ours.perSecond / below.perSecond);
      product.push(ours.perSecond);
      floor.push(below.perSecond);
      p99.push(ours.p99Ms);
    }
    await bare.stop();
    rows.push([
      `GET ${path}`,
      Math.round(median(floor)).toString(),
      Math.round(median(product)).toString(),
      median(p99).toFixed(1),
      spread(ratios, 2),
      '0.80',
    ]);
  }
  printTable(
    `Reads against bare node:http with the same bytes, ${CONNECTIONS} connections`,
    ['request', 'floor/s', 'product/s', 'p99 ms', 'ratio', 'goal'],
    rows,
  );
}

const HOP_HEADERS = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding']);

import { runBareDriver, runLoad } from './processes.js';
import { median, printTable, spread } from './report.js';

export interface WriteRatioOptions {
  readonly port: number;
  readonly key: string;
  readonly tenantId: string;
  readonly socketDir: string;
  readonly rounds: number;
  readonly seconds: number;
}

const CONNECTIONS = 64;

/** An update with its audit row over HTTP, against the same two statements by the bare driver. */
export async function measureWriteRatio(options: WriteRatioOptions): Promise<void> {
  const body = JSON.stringify({ name: 'Benchmark' });
  const request =
    `PUT /tenants/self HTTP/1.1\r\nHost: 127.0.0.1\r\nSVC-API-KEY: ${options.key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const product: number[] = [];
  const floor: number[] = [];
  const p99: number[] = [];
  for (let round = 0; round <= options.rounds; round += 1) {
    const { socketDir, tenantId, seconds } = options;
    const below = await runBareDriver({ socketDir, tenantIds: [tenantId], callers: CONNECTIONS, seconds });
    const ours = await runLoad({ port: options.port, requests: [request], connections: CONNECTIONS, seconds });
    // The first round only warms up.
    if (round === 0) continue;
    product.push(ours.perSecond);
    floor.push(below);
    p99.push(ours.p99Ms);
  }
  const ratios = product.map((value, index) => value / (floor[index] ?? value));
  printTable(
    `An update with its audit row against the same two statements by the bare driver, ${CONNECTIONS} callers, one tenant`,
    ['request', 'floor/s', 'product/s', 'p99 ms', 'ratio'],
    [
      [
        'PUT /tenants/self',
        Math.round(median(floor)).toString(),
        Math.round(median(product)).toString(),
        median(p99).toFixed(1),
        spread(ratios, 2),
      ],
    ],
  );
}

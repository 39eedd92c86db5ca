import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The text of a scrape, or its promise where several processes have to be asked. Must not reject. */
export interface Scraped {
  render(): string | Promise<string>;
}

export interface MetricsListener {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the metrics on a port of their own, so that they are never reachable where tenants are. */
export async function listenForScrapes(metrics: Scraped, host: string, port: number): Promise<MetricsListener> {
  const server = createServer(async (request, response) => {
    const isScrape = (request.method === 'GET' || request.method === 'HEAD') && request.url === '/metrics';
    const text = isScrape ? await metrics.render() : 'See /metrics\n';
    response.writeHead(isScrape ? 200 : 404, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
    response.end(text);
  });
  server.headersTimeout = 5_000;
  server.requestTimeout = 5_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port, // A TCP listener always has one.
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { makeServerIdentity } from '@strongroom/test-servers/server-identity.js';
import type { Listening } from '../../../outbound/outbound-fixture.js';
import { listening } from '../../../outbound/outbound-fixture.js';

/** A request as the destination saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  /** Names as they were written, and values, one behind the other. */
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** Another company on loopback, with what an app has to be told to reach it. */
export interface TestDestination extends Pick<Listening, 'close' | 'port'> {
  readonly env: Readonly<Record<string, string>>;
  readonly seen: SeenRequest[];
  /** How each path answers, without its query; 200 with what was seen unless told. */
  readonly answers: Map<string, Answer>;
  /** Paths whose requests are not read first. */
  readonly unread: Map<string, Answer>;
  readonly url: string;
  /** The same by a name, which stored Proxies have to have. */
  readonly named: string;
  last(): SeenRequest;
}

export async function startDestination(): Promise<TestDestination> {
  const { key, cert, authorityFile, remove } = await makeServerIdentity('IP:127.0.0.1,DNS:localhost');
  const seen: SeenRequest[] = [];
  const [answers, unread]: [TestDestination['answers'], TestDestination['unread']] = [new Map(), new Map()];
  const server = await listening(
    createServer({ key, cert }, (request, response) => {
      const { method = '', url = '', rawHeaders, headers } = request;
      const [path = ''] = url.split('?');
      const early = unread.get(path);
      if (early) return early(response, request);
      const pieces: Buffer[] = [];
      request.on('error', () => {});
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const one = { method, url, rawHeaders, headers, body: Buffer.concat(pieces).toString() };
        seen.push(one);
        const answer = answers.get(path);
        if (answer) return answer(response, request);
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify(one));
      });
    }),
  );
  return {
    port: server.port,
    seen,
    answers,
    unread,
    env: {
      STRONGROOM_OUTBOUND_ALLOW: `127.0.0.1:${server.port},localhost:${server.port}`,
      STRONGROOM_OUTBOUND_CA_FILE: authorityFile,
    },
    url: `https://127.0.0.1:${server.port}`,
    named: `https://localhost:${server.port}`,
    last: () => seen.at(-1) ?? { method: '', url: '', rawHeaders: [], headers: {}, body: '' },
    async close() {
      await server.close();
      await remove();
    },
  };
}

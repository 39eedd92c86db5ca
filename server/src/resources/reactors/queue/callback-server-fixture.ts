import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { makeServerIdentity } from '@strongroom/test-servers/server-identity.js';
import type { Listening } from '../../../outbound/outbound-fixture.js';
import { listening } from '../../../outbound/outbound-fixture.js';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server that results are sent to, with what an app needs to be told to reach it. */
export interface CallbackServer extends Pick<Listening, 'close' | 'port'> {
  readonly env: Readonly<Record<string, string>>;
  readonly received: Received[];
  /** How each path answers; 200 unless told. */
  readonly answers: Map<string, (response: ServerResponse) => void>;
  url(path: string): string;
  at(path: string): Received[];
}

export async function startCallbackServer(): Promise<CallbackServer> {
  const { key, cert, authorityFile, remove } = await makeServerIdentity('IP:127.0.0.1');
  const received: Received[] = [];
  const answers: CallbackServer['answers'] = new Map();
  const server = await listening(
    createServer({ key, cert }, (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const path = request.url ?? '';
        received.push({ path, headers: request.headers, body: Buffer.concat(pieces).toString() });
        const answer = answers.get(path);
        if (answer) answer(response);
        else response.end('{}');
      });
    }),
  );
  return {
    port: server.port,
    received,
    answers,
    env: {
      STRONGROOM_OUTBOUND_ALLOW: `127.0.0.1:${server.port}`,
      STRONGROOM_OUTBOUND_CA_FILE: authorityFile,
    },
    url: (path) => `https://127.0.0.1:${server.port}${path}`,
    at: (path) => received.filter((each) => each.path === path),
    async close() {
      await server.close();
      await remove();
    },
  };
}

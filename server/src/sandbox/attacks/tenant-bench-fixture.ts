import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../kernel/clock.js';
import { parseUrl } from '../../kernel/parse-url.js';
import { EngineInstance } from '../engine/instance.js';
import { prepareRun } from '../engine/prepared-run.js';
import type { AnswerEngine, EngineAnswer, EngineRequest, RunOutcome } from '../run.js';
import { PLAIN_INPUT } from '../run-fixture.js';
import type { Wall } from '../wall/wall.js';
import type { TenantBait, TenantProbe } from './tenant-probes-fixture.js';

/** How requests of code are answered: by writing them down, or by a host that believes them and dials loopback, and it alone. */
export type Answering = 'records' | 'believes';

const RUN_MS = 20_000;
const OUTCOME_BYTES_MAX = 6 * 1024 * 1024;
const SECRET = 'SECRET-OF-THE-VAULT';
/** What code must not have seen, whatever way it got there. */
const SEEN = new RegExp(`${SECRET}|root:x:0|CANARY|uid=\\d|victim`);
const METHOD = /^[A-Z]+$/;
const ENDS_A_LINE = /[\r\n\0]/;
const LOOPBACK = /^(127(\.\d+){3}|\[::1\]|localhost)$/;
const MEMBERS_OF_ALL = Reflect.ownKeys(Object.prototype).length;

/** Things that code of tenants tries to reach, and a host for it. */
export class TenantBench {
  readonly bait: TenantBait;
  /** Who came to the servers that nobody may reach. */
  readonly visits: readonly string[];
  readonly #folder: string;
  readonly #servers: readonly Server[];

  private constructor(folder: string, servers: readonly Server[], bait: TenantBait, visits: readonly string[]) {
    this.#folder = folder;
    this.#servers = servers;
    this.bait = bait;
    this.visits = visits;
  }

  static async open(): Promise<TenantBench> {
    process.env.VAULT_SECRET = SECRET;
    const visits: string[] = [];
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-attacks-'));
    const secretFile = join(folder, 'secret');
    await writeFile(secretFile, SECRET);
    const socketPath = join(folder, 'bait.sock');
    const tcp = await listening(visits);
    const servers = [tcp, await listening(visits, socketPath)];
    const { port } = tcp.address() as AddressInfo;
    const planted = join(folder, 'planted');
    return new TenantBench(folder, servers, { port, socketPath, secretFile, planted, apiPid: process.pid }, visits);
  }

  async close(): Promise<void> {
    delete process.env.VAULT_SECRET;
    for (const server of this.#servers) server.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** What a probe got out of a wall, in words; nothing where it was held. */
  async escapesOf(wall: Wall, probe: TenantProbe, answering: Answering = 'records'): Promise<string[]> {
    const escapes: string[] = [];
    let isRunning = false;
    const answer: AnswerEngine = async ({ code: { applicationId } }, request) => {
      escapes.push(...faultsOf(request));
      if (!isRunning) escapes.push(`asked after its answer: ${request.url}`);
      if (applicationId !== APPLICATION) escapes.push(`asked as ${applicationId}`);
      return answering === 'records' ? recorded(request) : this.#believed(request);
    };
    const instance = new EngineInstance(wall, systemClock);
    await instance.start();
    try {
      const { name: ownerId, code } = probe;
      const version = { tenantId: 't', ownerId, version: '1', code, applicationId: APPLICATION };
      await instance.load(version, { aliases: {}, answer });
      const input = prepareRun({ ...PLAIN_INPUT, keepsConsole: true }, ['client']);
      for (let run = 0; run < (probe.runs ?? 1); run += 1) {
        isRunning = true;
        const outcome = await instance.run(input, { deadlineMs: probe.deadlineMs ?? RUN_MS });
        isRunning = false;
        escapes.push(...faultsIn(outcome));
      }
    } finally {
      instance.kill();
      await instance.ended;
    }
    if (Reflect.ownKeys(Object.prototype).length !== MEMBERS_OF_ALL) escapes.push('changed the prototype of the host');
    if (existsSync(this.bait.planted)) escapes.push('a file was written');
    return escapes;
  }

  /** As a host would that takes addresses and names from the request. */
  async #believed(request: EngineRequest): Promise<EngineAnswer> {
    const { hostname, port, protocol, username } = new URL(request.url);
    const isBait = protocol === 'http:' && LOOPBACK.test(hostname) && port === String(this.bait.port);
    if (isBait && !request.headers.some(([name]) => name === 'upgrade')) {
      const init = request.body.length > 0 ? { body: new Uint8Array(request.body) } : {};
      const answer = await fetch(request.url, { method: request.method, redirect: 'manual', ...init });
      return { status: answer.status, headers: [], body: Buffer.from(await answer.arrayBuffer()) };
    }
    const named = request.headers.find(([name]) => /^(svc-api-key|x-application)$/.test(name))?.[1] ?? username;
    return request.to === 'api' ? json(200, { answeredAs: named }) : recorded(request);
  }
}

const APPLICATION = 'attacker';

/** Also leads requests in a circle, and to where none may get. */
function recorded({ to, url }: EngineRequest): EngineAnswer {
  const { pathname, searchParams } = new URL(url);
  const location = searchParams.get('to');
  if (pathname === '/leads' && location !== null) {
    return { status: 302, headers: [['location', location]], body: Buffer.alloc(0) };
  }
  return json(403, { answeredAs: APPLICATION, to, path: pathname });
}

function json(status: number, value: unknown): EngineAnswer {
  return { status, headers: [['content-type', 'application/json']], body: Buffer.from(JSON.stringify(value)) };
}

/** What would be more than a request, where it is sent on as it is. */
function faultsOf({ method, url, headers }: EngineRequest): string[] {
  const faults: string[] = [];
  if (!METHOD.test(method)) faults.push(`method ${method}`);
  if (!parseUrl(url) || ENDS_A_LINE.test(url)) faults.push(`address ${url}`);
  if (headers.flat().some((text) => ENDS_A_LINE.test(text))) faults.push('a header with a line end');
  return faults;
}

/** The secret in it, or something that whoever reads it could not stand. */
function faultsIn(outcome: RunOutcome): string[] {
  const text = JSON.stringify(outcome);
  if (SEEN.test(text)) return [text.slice(0, 200)];
  if (text.length > OUTCOME_BYTES_MAX) return [`${text.length} bytes`];
  const lines = 'console' in outcome ? outcome.console.flatMap(({ level, text: line }) => [level, line]) : [];
  const messages = outcome.outcome === 'thrown' ? Object.values(outcome.errors).flat() : [];
  return [...lines, ...messages].every((each) => typeof each === 'string') ? [] : ['what is no text in place of one'];
}

function listening(visits: string[], path?: string): Promise<Server> {
  const server = createServer((request, response) => {
    visits.push(String(request.url));
    response.end('CANARY');
  });
  server.on('connection', () => visits.push('a connection'));
  return new Promise((resolve) => {
    if (path === undefined) server.listen(0, '127.0.0.1', () => resolve(server));
    else server.listen(path, () => resolve(server));
  });
}

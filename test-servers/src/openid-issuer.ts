import type { KeyObject } from 'node:crypto';
import { createHash, createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';

type Members = Readonly<Record<string, unknown>>;

/** In place of the usual answer: another one, or none for ever. */
export type IssuerReply = { status: number; headers?: Record<string, string>; body: string } | 'silence' | undefined;

/** What a test changes of an honest issuer, from one request to the next. */
export interface IssuerLies {
  replyTo?: (path: string) => IssuerReply;
  document?: Members;
  claims?: Members;
  /** `stranger` is a key that is not published; `HS256` is made with the published key as if it were a secret. */
  signature?: 'none' | 'HS256' | 'stranger';
  /** Whether the callback says who sends it. */
  namesItself?: boolean;
}

export interface OpenIdIssuerOptions {
  /** A name that the certificate is for. */
  readonly host: string;
  readonly key: string;
  readonly cert: string;
  readonly algorithm: 'RS256' | 'ES256';
  readonly clients: Readonly<Record<string, string>>;
}

export interface OpenIdIssuer {
  readonly url: string;
  /** Paths that were asked for. */
  readonly asked: string[];
  readonly lies: IssuerLies;
  /** What a browser does with an address of `begin` whose user agrees: the address it is sent back to. */
  agree(authorizationUrl: string, claims: Members): string;
  close(): Promise<void>;
}

interface Grant {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly claims: Members;
}

const TOKEN_SECONDS = 300;
const MS_PER_SECOND = 1_000;
const KEY_ID = 'first';

/** An OpenID issuer on loopback, with TLS. Codes are good once, and PKCE is checked. */
export async function startOpenIdIssuer(options: OpenIdIssuerOptions): Promise<OpenIdIssuer> {
  const keys = [makeKeys(options.algorithm), makeKeys(options.algorithm)];
  const grants = new Map<string, Grant>();
  const asked: string[] = [];
  const lies: IssuerLies = {};
  let url = '';

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    asked.push(path);
    const form = new URLSearchParams(await textOf(request));
    const reply = lies.replyTo ? lies.replyTo(path) : undefined;
    if (reply === 'silence') return;
    const { status, headers, body } = reply ?? usual(path, request, form);
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
  }

  function usual(path: string, request: IncomingMessage, form: URLSearchParams) {
    const [published, stranger] = keys;
    if (path === '/.well-known/openid-configuration')
      return json(200, { ...documentOf(url, options), ...lies.document });
    if (path === '/keys') return json(200, { keys: [published?.jwk] });
    if (path !== '/token') return json(404, { error: 'not_found' });
    const client = clientOf(request, form);
    if (options.clients[client.id] !== client.secret) return json(401, { error: 'invalid_client' });
    const grant = grants.get(form.get('code') ?? '');
    grants.delete(form.get('code') ?? '');
    if (grant === undefined || !isGranted(grant, client.id, form)) return json(400, { error: 'invalid_grant' });
    const key = lies.signature === 'stranger' ? stranger : published;
    const claims = { iss: url, aud: grant.clientId, ...times(), ...grant.claims, ...lies.claims };
    const idToken = tokenOf(claims, options.algorithm, key, lies.signature);
    return json(200, { access_token: 'access', token_type: 'Bearer', id_token: idToken });
  }

  const { server, sockets } = await listen(options, answer);
  const address = server.address();
  url = `https://${options.host}:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return {
    url,
    asked,
    lies,
    agree(authorizationUrl, claims) {
      const { searchParams } = new URL(authorizationUrl);
      const of = (name: string): string => searchParams.get(name) ?? '';
      const code = randomBytes(16).toString('hex');
      const [clientId, redirectUri, challenge] = [of('client_id'), of('redirect_uri'), of('code_challenge')];
      grants.set(code, { clientId, redirectUri, challenge, claims: { nonce: of('nonce'), ...claims } });
      const more = lies.namesItself === false ? {} : { iss: url };
      return `${redirectUri}?${new URLSearchParams({ code, state: of('state'), ...more })}`;
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

async function listen(
  { key, cert }: OpenIdIssuerOptions,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
) {
  const sockets = new Set<Socket>();
  const server = createServer({ key, cert }, (request, response) => void answer(request, response));
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, sockets };
}

function documentOf(url: string, { algorithm }: OpenIdIssuerOptions): Members {
  return {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [algorithm],
    authorization_response_iss_parameter_supported: true,
  };
}

interface Keys {
  readonly privateKey: KeyObject;
  readonly jwk: Members;
  /** The published key as text, for whoever uses it as a secret. */
  readonly pem: string;
}

function makeKeys(algorithm: 'RS256' | 'ES256'): Keys {
  const { privateKey, publicKey } =
    algorithm === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2_048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: algorithm, use: 'sig' };
  return { privateKey, jwk, pem: publicKey.export({ format: 'pem', type: 'spki' }).toString() };
}

function tokenOf(claims: Members, algorithm: string, keys: Keys | undefined, lie: IssuerLies['signature']): string {
  const alg = lie === 'none' || lie === 'HS256' ? lie : algorithm;
  const text = [{ alg, kid: KEY_ID }, claims].map((part) => encoded(JSON.stringify(part))).join('.');
  if (lie === 'none' || keys === undefined) return `${text}.`;
  if (lie === 'HS256') return `${text}.${createHmac('sha256', keys.pem).update(text).digest('base64url')}`;
  const signature = sign('sha256', Buffer.from(text), { key: keys.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

function times(): Members {
  const now = Math.floor(Date.now() / MS_PER_SECOND);
  return { iat: now, exp: now + TOKEN_SECONDS };
}

function isGranted({ clientId, redirectUri, challenge }: Grant, client: string, form: URLSearchParams): boolean {
  const verifier = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url');
  return client === clientId && form.get('redirect_uri') === redirectUri && verifier === challenge;
}

/** By HTTP Basic or in the form. */
function clientOf({ headers }: IncomingMessage, form: URLSearchParams): { id: string; secret: string } {
  const [, basic] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? [];
  if (basic === undefined) return { id: form.get('client_id') ?? '', secret: form.get('client_secret') ?? '' };
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString('utf8').split(':').map(decodeURIComponent);
  return { id, secret };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

function json(status: number, value: unknown): { status: number; headers?: Record<string, string>; body: string } {
  return { status, body: JSON.stringify(value) };
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url');
}

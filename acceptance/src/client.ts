import assert from 'node:assert/strict';

/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON, in the shape the test is about to check. */
  as<T>(): T;
}

export interface Sent {
  readonly key?: string;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Call = (method: string, path: string, sent?: Sent) => Promise<Answer>;

/** A failure as the service describes it. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly trace_id: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

export type OnAnswer = (method: string, path: string, status: number) => void;

export function createClient(baseUrl: string, onAnswer: OnAnswer = () => {}): Call {
  return async (method, path, sent = {}) => {
    const body = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body));
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(sent.key !== undefined && { 'SVC-API-KEY': sent.key }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...sent.headers,
      },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    onAnswer(method, path, response.status);
    return { status: response.status, headers: response.headers, text, as: () => JSON.parse(text) };
  };
}

/** Checks a refusal to its last member and gives it back. */
export function assertProblem(answer: Answer, status: number, code: string): Problem {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json\b/);
  const problem = answer.as<Problem>();
  const { errors, ...always } = problem;
  assert.deepEqual(Object.keys(always).sort(), ['code', 'detail', 'status', 'title', 'trace_id', 'type']);
  assert.equal(problem.type, `urn:strongroom:problem:${code}`);
  assert.equal(problem.code, code);
  assert.equal(problem.status, status);
  assert.equal(problem.trace_id, answer.headers.get('svc-trace-id'));
  for (const text of [problem.title, problem.detail]) assert.match(text, /\S/);
  if (code === 'validation_failed') assert.ok(Object.keys(errors ?? {}).length > 0);
  return problem;
}

/** Checks what every endpoint behind a key does without one, or with a bad one. */
export async function assertNeedsKey(call: Call, method: string, path: string): Promise<void> {
  const wrong = ['x', 'key_mgt_00000000000000000000000000000000', `key_pvt_${'a'.repeat(32)}`];
  const missing = await call(method, path);
  assertProblem(missing, 401, 'missing_api_key');
  assert.equal(missing.headers.get('www-authenticate'), 'ApiKey realm="strongroom", header="SVC-API-KEY"');
  for (const key of wrong) assertProblem(await call(method, path, { key }), 401, 'invalid_api_key');
}

/** Checks that a permission is asked for, and named. */
export async function assertNeedsPermission(
  call: Call,
  [method, path]: readonly [string, string],
  keys: readonly string[],
  permission: string,
): Promise<void> {
  for (const key of keys) {
    const { detail } = assertProblem(await call(method, path, { key }), 403, 'permission_denied');
    assert.ok(detail.includes(permission), detail);
  }
}

/** Checks HEAD, a trailing slash and an origin, which every readable path takes. */
export async function assertConventional(call: Call, path: string, key: string): Promise<void> {
  const [pathname = '', query = ''] = path.split('?');
  const plain = await call('GET', path, { key });
  const slashed = await call('GET', `${pathname}/${query && `?${query}`}`, { key });
  assert.equal(slashed.status, 200);
  assert.equal(slashed.text, plain.text);
  const head = await call('HEAD', path, { key });
  assert.equal(head.status, 200);
  assert.equal(head.text, '');
  for (const name of ['content-type', 'content-length']) assert.equal(head.headers.get(name), plain.headers.get(name));
  const crossing = await call('GET', path, { key, headers: { Origin: 'https://shop.test' } });
  assert.equal(crossing.headers.get('access-control-allow-origin'), '*');
  assert.match(plain.headers.get('content-type') ?? '', /^application\/json\b/);
}

/** Every failure a caller can see, with its status. The code is the stable word programs match on. */
export const ERROR_CATALOGUE = {
  validation_failed: { status: 400, title: 'Validation failed' },
  malformed_json: { status: 400, title: 'Malformed JSON' },
  malformed_request: { status: 400, title: 'Malformed request' },
  tenant_required: { status: 400, title: 'Tenant required' },
  invalid_cursor: { status: 400, title: 'Invalid cursor' },
  invalid_query: { status: 400, title: 'Invalid query' },
  invalid_expression: { status: 400, title: 'Invalid expression' },
  unknown_token: { status: 400, title: 'Unknown token' },
  too_many_tokens: { status: 400, title: 'Too many tokens' },
  missing_api_key: { status: 401, title: 'Missing API key' },
  invalid_api_key: { status: 401, title: 'Invalid API key' },
  permission_denied: { status: 403, title: 'Permission denied' },
  access_denied: { status: 403, title: 'Access denied' },
  wrong_application_type: { status: 403, title: 'Wrong application type' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'Request timeout' },
  token_id_conflict: { status: 409, title: 'Token id conflict' },
  idempotency_in_flight: { status: 409, title: 'Idempotency in flight' },
  idempotency_answer_not_kept: { status: 409, title: 'Idempotency answer not kept' },
  session_already_authorized: { status: 409, title: 'Session already authorized' },
  payload_too_large: { status: 413, title: 'Payload too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  rate_limited: { status: 429, title: 'Rate limited' },
  headers_too_large: { status: 431, title: 'Headers too large' },
  internal_error: { status: 500, title: 'Internal error' },
  overloaded: { status: 503, title: 'Overloaded' },
  storage_unavailable: { status: 503, title: 'Storage unavailable' },
} as const;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** Field path to messages: `settings.fingerprint_tokens` or `$` for the whole body. */
export type FieldErrors = Record<string, string[]>;

export interface AppErrorOptions {
  /** Shown with a 400 that is about a field or a parameter. */
  readonly errors?: FieldErrors;
  /** Response headers that belong to this failure, such as Retry-After. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The inside story, for the process log alone. */
  readonly cause?: unknown;
}

/**
 * An expected failure. `detail` is a sentence fit for a stranger: it never holds a key, token data or what the
 * client sent as a value. What happened inside goes into `cause`, which never leaves the process.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly errors: FieldErrors | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, detail: string, options: AppErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = ERROR_CATALOGUE[code].status;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
  }
}

const FIELDS_NAMED_MAX = 5;

/** A 400 that names its fields: `2 fields are invalid: name, settings.` */
export function validationFailed(errors: FieldErrors): AppError {
  const paths = Object.keys(errors);
  const shown = paths.slice(0, FIELDS_NAMED_MAX).join(', ');
  const more = paths.length > FIELDS_NAMED_MAX ? ` and ${paths.length - FIELDS_NAMED_MAX} more` : '';
  const count = paths.length === 1 ? '1 field is invalid' : `${paths.length} fields are invalid`;
  return new AppError('validation_failed', `${count}: ${shown}${more}.`, { errors });
}

const STORAGE_RETRY_SECONDS = 1;

/** The data, key or log store cannot be used: nothing was done, nothing was disclosed, trying again is safe. */
export function storageUnavailable(cause: unknown): AppError {
  return new AppError(
    'storage_unavailable',
    'The data store is not available. Nothing was changed; try again shortly.',
    {
      headers: { 'Retry-After': String(STORAGE_RETRY_SECONDS) },
      cause,
    },
  );
}

/** Made once: when there is too much to do, each refusal must cost next to nothing. */
const OVERLOADED = new AppError(
  'overloaded',
  'Too many requests are being worked on. Nothing was done; try again shortly.',
  { headers: { 'Retry-After': '1' } },
);

export function overloaded(): AppError {
  return OVERLOADED;
}

/** Every failure a caller can see, with its status. The code is the stable word programs match on. */
export const ERROR_CATALOGUE = {
  validation_failed: { status: 400 },
  malformed_json: { status: 400 },
  malformed_request: { status: 400 },
  tenant_required: { status: 400 },
  ambiguous_credentials: { status: 400 },
  invalid_cursor: { status: 400 },
  invalid_query: { status: 400 },
  invalid_expression: { status: 400 },
  unknown_token: { status: 400 },
  too_many_tokens: { status: 400 },
  missing_api_key: { status: 401 },
  invalid_api_key: { status: 401 },
  invalid_portal_session: { status: 401 },
  permission_denied: { status: 403 },
  access_denied: { status: 403 },
  wrong_application_type: { status: 403 },
  cross_site_refused: { status: 403 },
  step_up_required: { status: 403 },
  second_factor_required: { status: 403 },
  role_not_grantable: { status: 403 },
  not_found: { status: 404 },
  method_not_allowed: { status: 405 },
  request_timeout: { status: 408 },
  reactor_timeout: { status: 408 },
  destination_timeout: { status: 408 },
  token_id_conflict: { status: 409 },
  idempotency_in_flight: { status: 409 },
  idempotency_answer_not_kept: { status: 409 },
  session_already_authorized: { status: 409 },
  already_member: { status: 409 },
  payload_too_large: { status: 413 },
  unsupported_media_type: { status: 415 },
  reactor_code_invalid: { status: 422 },
  owner_protected: { status: 422 },
  destination_refused: { status: 422 },
  rate_limited: { status: 429 },
  sign_in_delayed: { status: 429 },
  search_bound: { status: 429 },
  headers_too_large: { status: 431 },
  internal_error: { status: 500 },
  reactor_error: { status: 500 },
  destination_unreachable: { status: 502 },
  reactors_unavailable: { status: 503 },
  overloaded: { status: 503 },
  storage_unavailable: { status: 503 },
} as const;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** Field path to messages: `settings.fingerprint_tokens` or `$` for the whole body. */
export type FieldErrors = Record<string, string[]>;

export interface AppErrorOptions {
  /** Shown with a 400 that is about a field or a parameter. */
  readonly errors?: FieldErrors;
  /** Response headers that belong to this failure, such as Retry-After. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The internal cause, for the process log only. */
  readonly cause?: unknown;
  /** In place of the status of the code, where tenant code decides it. */
  readonly status?: number;
  /** Further members of the problem. */
  readonly members?: Readonly<Record<string, unknown>>;
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
  readonly members: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, detail: string, options: AppErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? ERROR_CATALOGUE[code].status;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.members = options.members;
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

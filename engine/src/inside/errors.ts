/** The module `strongroom-errors`: what code throws to choose the status of its answer. */

/** What the host looks at; names of classes do not survive every bundler. */
const KIND = Symbol.for('strongroom.error');

abstract class ReactorError extends Error {
  readonly data: unknown;

  constructor(kind: string, message: string, data: unknown) {
    super(typeof data === 'string' ? data : message);
    this.name = kind;
    this.data = data;
    Object.defineProperty(this, KIND, { value: kind });
  }
}

export class BadRequestError extends ReactorError {
  constructor(data?: unknown) {
    super('BadRequestError', 'Bad Request', data);
  }
}
export class InvalidReactorConfigurationError extends ReactorError {
  constructor(data?: unknown) {
    super('InvalidReactorConfigurationError', 'Invalid Reactor Configuration', data);
  }
}
export class AuthenticationError extends ReactorError {
  constructor(data?: unknown) {
    super('AuthenticationError', 'Authentication Failed', data);
  }
}
export class AuthorizationError extends ReactorError {
  constructor(data?: unknown) {
    super('AuthorizationError', 'Forbidden', data);
  }
}
export class InvalidPaymentMethodError extends ReactorError {
  constructor(data?: unknown) {
    super('InvalidPaymentMethodError', 'Invalid Payment Method', data);
  }
}
export class RateLimitError extends ReactorError {
  constructor(data?: unknown) {
    super('RateLimitError', 'Rate Limit Exceeded', data);
  }
}
export class ReactorRuntimeError extends ReactorError {
  constructor(data?: unknown) {
    super('ReactorRuntimeError', 'Reactor Runtime Error', data);
  }
}
export class ServiceUnavailableError extends ReactorError {
  constructor(data?: unknown) {
    super('ServiceUnavailableError', 'Service Unavailable', data);
  }
}

export interface CustomHttpResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export class CustomHttpResponseError extends ReactorError {
  readonly response: CustomHttpResponse;

  constructor(response: CustomHttpResponse) {
    super('CustomHttpResponseError', 'Custom response', undefined);
    this.response = response;
  }
}

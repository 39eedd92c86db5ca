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

/** A class whose errors are all of one kind, made with whatever the answer is to say. */
function errorClass(kind: string, message: string) {
  return class extends ReactorError {
    constructor(data?: unknown) {
      super(kind, message, data);
    }
  };
}

export const BadRequestError = errorClass('BadRequestError', 'Bad Request');
export const InvalidReactorConfigurationError = errorClass(
  'InvalidReactorConfigurationError',
  'Invalid Reactor Configuration',
);
export const AuthenticationError = errorClass('AuthenticationError', 'Authentication Failed');
export const AuthorizationError = errorClass('AuthorizationError', 'Forbidden');
export const InvalidPaymentMethodError = errorClass('InvalidPaymentMethodError', 'Invalid Payment Method');
export const RateLimitError = errorClass('RateLimitError', 'Rate Limit Exceeded');
export const ReactorRuntimeError = errorClass('ReactorRuntimeError', 'Reactor Runtime Error');
export const ServiceUnavailableError = errorClass('ServiceUnavailableError', 'Service Unavailable');

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

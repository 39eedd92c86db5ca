/** What the classes of failures mean. Those of code are told as the code names them. */
const WORDS: Readonly<Record<string, string>> = {
  BadRequestError: 'The code refused its input',
  InvalidReactorConfigurationError: 'The code found its configuration wrong',
  AuthenticationError: 'The code was not let in by somebody else',
  InvalidPaymentMethodError: 'The code refused a payment method',
  AuthorizationError: 'The code was forbidden something',
  RateLimitError: 'The code was told to slow down',
  ServiceUnavailableError: 'The code could not reach a service',
  CustomHttpResponseError: 'The code answered in its own words',
  ReactorRuntimeError: 'The code threw an error',
  invalid_code: 'The code does not compile or exports no function',
  timeout: 'The code took longer than it may',
  too_large: 'The answer was larger than it may be',
  ended: 'The process ended, often for lack of memory',
  cancelled: 'The run was cancelled',
  refused: 'Refused before or after the code ran: a token, a right, a size or a destination',
  not_run: 'There was no process for the code',
  destination_timeout: 'The destination did not answer in time',
  destination_failed: 'The destination could not be reached',
};

export function failureWords(name: string): string {
  return WORDS[name] ?? 'Another failure';
}

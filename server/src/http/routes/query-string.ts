import { AppError } from '../../kernel/errors.js';

const PARAMETERS_MAX = 1_000;

/** Reads `a=1&b=2`; a name sent several times keeps all its values. Broken percent-encoding is refused. */
export function parseQueryString(raw: string): Map<string, string[]> {
  const parameters = new Map<string, string[]>();
  if (raw === '') return parameters;
  const pairs = raw.split('&');
  if (pairs.length > PARAMETERS_MAX) {
    throw new AppError('malformed_request', `The query has more than ${PARAMETERS_MAX} parameters.`);
  }
  for (const pair of pairs) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1));
    const values = parameters.get(name);
    if (values) values.push(value);
    else parameters.set(name, [value]);
  }
  return parameters;
}

function decode(part: string): string {
  const spaced = part.includes('+') ? part.replaceAll('+', ' ') : part;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new AppError(
      'malformed_request',
      'The query has broken percent-encoding. Encode each byte as % and two hex digits.',
    );
  }
}

/** One word of a shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export interface CurlCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
}

/** A call for a shell. The key is a variable: a line that is copied about must not have one in it. */
export function curlLine({ method, path, body }: CurlCall): string {
  return [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(`${location.origin}${path}`)}`,
    '-H "SVC-API-KEY: $STRONGROOM_KEY"',
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body, null, 2))}`]),
  ].join(' \\\n  ');
}

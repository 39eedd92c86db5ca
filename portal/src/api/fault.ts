/** What the server said instead of an answer. */
export class ApiFault extends Error {
  override readonly name = 'ApiFault';

  constructor(
    readonly status: number,
    /** The stable word; `unreachable` where no server answered. */
    readonly code: string,
    detail: string,
    readonly errors: Readonly<Record<string, readonly string[]>> = {},
    readonly retryAfterSeconds: number | undefined = undefined,
    /** The whole body: some refusals say more, such as what code printed before it failed. */
    readonly body: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail);
  }

  /** Refused by the limit, which one notice tells for the whole page. */
  get isLimit(): boolean {
    return this.code === 'rate_limited';
  }

  /** What is wrong with one field. */
  of(field: string): string | undefined {
    return this.errors[field]?.join(', ');
  }

  /** What is wrong beside the named fields. */
  besides(fields: readonly string[]): string | undefined {
    const others = Object.entries(this.errors).filter(([name]) => !fields.includes(name));
    if (others.length === 0) return Object.keys(this.errors).length === 0 ? this.message : undefined;
    return others.map(([name, texts]) => (name === '$' ? texts.join(', ') : `${name} ${texts.join(', ')}`)).join('; ');
  }
}

/** The body of a refusal (RFC 9457). */
export async function faultOf(response: Response): Promise<ApiFault> {
  const retryAfter = Number(response.headers.get('retry-after') ?? '') || undefined;
  const body: unknown = await response.json().catch(() => undefined);
  const { code, detail, errors } = isObject(body) ? body : {};
  return new ApiFault(
    response.status,
    typeof code === 'string' ? code : 'unknown',
    typeof detail === 'string' ? detail : `The server answered ${response.status}.`,
    isObject(errors) ? (errors as Record<string, string[]>) : {}, // As the catalogue of errors says.
    retryAfter,
    isObject(body) ? body : {},
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

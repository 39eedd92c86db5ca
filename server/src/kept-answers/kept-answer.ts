import { openForCredential, sealForCredential } from '../crypto/credential-seal.js';
import { openField, sealField } from '../crypto/envelope.js';
import { IntegrityError } from '../crypto/integrity-error.js';
import type { TenantKeys } from '../crypto/tenant-keys.js';
import { withWiped } from '../crypto/wiped.js';
import type { Secret } from '../kernel/secret.js';
import type { KeptRow } from './queries.js';

/** A successful answer, as it went out. */
export interface KeptAnswer {
  readonly status: number;
  /** Undefined when it had none. */
  readonly body: string | undefined;
  readonly location: string | undefined;
}

/** What an answer shows to one credential alone. */
export interface AnswerSecrets {
  readonly fields: readonly string[];
  /** Undefined for a caller without one: nobody sees the fields again. */
  readonly credential: Secret<string> | undefined;
}

/** Which row an answer belongs to, and what opens it. */
export interface AnswerBinding {
  readonly keys: TenantKeys;
  readonly id: Buffer;
}

/** Under which circumstances an answer may be given again. */
export interface AnswerTerms {
  /** Stands for what the caller may do with tokens; undefined for an answer that shows none. */
  readonly rights: string | undefined;
  /** When the first of the entities it shows ends by itself. */
  readonly shownUntilMs: number | undefined;
}

interface Content extends Partial<Omit<KeptAnswer, 'status'>>, Partial<AnswerTerms> {
  readonly status: number;
  /** The body with its secrets, sealed for the credential it was shown to; `body` is without them. */
  readonly whole?: string | undefined;
}

export function contextOf({ keys, id }: AnswerBinding) {
  const entityId = id.toString('hex');
  return { tenantId: keys.tenantId, kind: 'idempotency', entityId, field: 'answer', dataVersion: 1 };
}

/**
 * The secrets lie under two seals, the outer one like any other record's: a new tenant key can be put on without the
 * credential.
 */
export function sealAnswer(
  binding: AnswerBinding,
  answer: KeptAnswer,
  secrets: AnswerSecrets,
  terms: AnswerTerms = NO_TERMS,
): Buffer {
  const content = secrets.fields.length === 0 ? answer : withSecretsApart(binding, answer, secrets);
  return withWiped(Buffer.from(JSON.stringify({ ...content, ...terms })), (plaintext) =>
    sealField(binding.keys, contextOf(binding), plaintext),
  );
}

const NO_TERMS: AnswerTerms = { rights: undefined, shownUntilMs: undefined };

/** The answer as this credential may see it, and its terms, which the caller of this function has to keep. */
export function openAnswer(
  binding: AnswerBinding,
  row: KeptRow,
  credential: Secret<string> | undefined,
): { readonly answer: KeptAnswer; readonly terms: AnswerTerms } {
  const content = withWiped(openField(binding.keys, contextOf(binding), row.sealed), (plaintext): Content => {
    return JSON.parse(plaintext.toString('utf8')); // Authenticated: we wrote it ourselves.
  });
  if (content.status !== row.status) throw new IntegrityError('A kept answer does not belong to its row.');
  const { status, location, rights, shownUntilMs } = content;
  return { answer: { status, location, body: bodyFor(binding, content, credential) }, terms: { rights, shownUntilMs } };
}

function withSecretsApart(binding: AnswerBinding, answer: KeptAnswer, { fields, credential }: AnswerSecrets): Content {
  const { status, location, body } = answer;
  if (body === undefined) return answer;
  const whole =
    credential &&
    withWiped(Buffer.from(body), (plaintext) => sealForCredential(credential, contextOf(binding), plaintext));
  return { status, location, body: withoutFields(body, fields), whole: whole?.toString('base64') };
}

/** At every depth, so that a secret listed inside a member does not stay behind. */
function withoutFields(body: string, fields: readonly string[]): string {
  const parsed: unknown = JSON.parse(body);
  return JSON.stringify(parsed, (name, value: unknown) => (fields.includes(name) ? undefined : value));
}

function bodyFor(binding: AnswerBinding, content: Content, credential: Secret<string> | undefined): string | undefined {
  if (content.whole === undefined || credential === undefined) return content.body;
  const whole = openForCredential(credential, contextOf(binding), Buffer.from(content.whole, 'base64'));
  return whole ? withWiped(whole, (plaintext) => plaintext.toString('utf8')) : content.body;
}

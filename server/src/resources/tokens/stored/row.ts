/** A token as the database holds it. */
export interface TokenRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly type: string;
  readonly group_id: string;
  readonly created_at: Date;
  readonly tie: string;
  readonly created_by: string | null;
  readonly modified_by: string | null;
  readonly modified_at: Date | null;
  readonly expires_at: Date | null;
  readonly cvc_expires_at: Date | null;
  readonly fingerprint: Buffer | null;
  readonly terms: Buffer;
  readonly data_version: number;
  readonly sealed: Buffer;
}

const NAMES = [
  'tenant_id',
  'id',
  'type',
  'group_id',
  'created_at',
  'tie',
  'created_by',
  'modified_by',
  'modified_at',
  'expires_at',
  'cvc_expires_at',
  'fingerprint',
  'terms',
  'data_version',
  'sealed',
] as const satisfies readonly (keyof TokenRow)[];

/** The columns of a token, for statements that read them from the table called `t`. */
export const TOKEN_COLUMNS = NAMES.map((name) => `t.${name}`).join(', ');

export const TOKEN_TYPES = [
  'token',
  'card',
  'bank',
  'card_number',
  'us_bank_account_number',
  'us_bank_routing_number',
  'social_security_number',
  'employer_id_number',
] as const;

export type TokenType = (typeof TOKEN_TYPES)[number];

export function isTokenType(text: string): text is TokenType {
  return (TOKEN_TYPES as readonly string[]).includes(text);
}

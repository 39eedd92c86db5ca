import type { MemberUser } from '../api/generated.js';

/** What a person is called, with what is known. */
export function nameOf({ first_name: first, last_name: last, email, id }: MemberUser): string {
  const name = [first, last].filter(Boolean).join(' ');
  return name || email || `The owner before the set-up (${id.slice(0, 8)})`;
}

const KEY = /\b(?:key_[a-z]{3}_|rk1_|rcs_)/;
const CARD_DIGITS = /^\d(?:[ -]?\d){12,18}$/;

/**
 * Why a text must not be in an address, which is kept by the browser, by proxies and by who gets it sent. Undefined where it may.
 */
export function notForAddress(text: string): 'a key' | 'a card number' | undefined {
  if (KEY.test(text)) return 'a key';
  return CARD_DIGITS.test(text.trim()) && isLuhn(text) ? 'a card number' : undefined;
}

function isLuhn(text: string): boolean {
  const digits = [...text.replace(/\D/g, '')].map(Number).reverse();
  const sum = digits.reduce((total, digit, at) => {
    const weighed = at % 2 === 1 ? digit * 2 : digit;
    return total + (weighed > 9 ? weighed - 9 : weighed);
  }, 0);
  return sum % 10 === 0;
}

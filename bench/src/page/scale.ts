/** Where values lie along an axis, and which of them get a label. */
export interface Scale {
  /** 0 at the start of the axis, 1 at its end. */
  place(value: number): number;
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
}

const STEPS = [1, 2, 2.5, 5, 10] as const;
const TICKS_WANTED = 6;

export function linearScale(values: readonly number[]): Scale {
  const high = Math.max(1e-9, ...values);
  const rough = high / TICKS_WANTED;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = magnitude * (STEPS.find((candidate) => candidate * magnitude >= rough) ?? 10);
  const top = Math.ceil(high / step - 1e-9) * step;
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, n) => n * step);
  return { place: (value) => value / top, ticks: ticks.map((value) => ({ value, label: shortNumber(value) })) };
}

/** Whole decades where there are several; within one or two also 2 and 5, so that an axis is never without a label. */
export function logScale(values: readonly number[]): Scale {
  const positive = values.filter((value) => value > 0);
  const low = Math.log10(Math.min(...positive, Math.max(...positive)));
  const high = Math.log10(Math.max(...positive));
  const steps = high - low > 2 ? [1] : [1, 2, 5];
  const bottom = floorTo(steps, low);
  const top = Math.max(ceilTo(steps, high), bottom + 0.3);
  const ticks: number[] = [];
  for (let decade = Math.floor(bottom); decade <= Math.ceil(top); decade += 1) {
    ticks.push(...steps.map((step) => step * 10 ** decade));
  }
  const isInside = (value: number): boolean => Math.log10(value) >= bottom - 1e-9 && Math.log10(value) <= top + 1e-9;
  return {
    place: (value) => (Math.log10(Math.max(value, 1e-12)) - bottom) / (top - bottom),
    ticks: ticks.filter(isInside).map((value) => ({ value, label: shortNumber(value) })),
  };
}

/** Names stand apart from both ends. */
export function nameScale(names: readonly string[]): Scale {
  return {
    place: (value) => (value + 0.5) / names.length,
    ticks: names.map((label, value) => ({ value, label })),
  };
}

/** `2k`, `10M`, `0.5`. */
export function shortNumber(value: number): string {
  const [divisor, letter] = value >= 1e6 ? [1e6, 'M'] : value >= 1e3 ? [1e3, 'k'] : [1, ''];
  return `${Number((value / divisor).toPrecision(3))}${letter}`;
}

function floorTo(steps: readonly number[], exponent: number): number {
  return edges(steps, exponent).findLast((edge) => edge <= exponent + 1e-9) ?? exponent;
}

function ceilTo(steps: readonly number[], exponent: number): number {
  return edges(steps, exponent).find((edge) => edge >= exponent - 1e-9) ?? exponent;
}

function edges(steps: readonly number[], exponent: number): number[] {
  const decade = Math.floor(exponent);
  return [decade - 1, decade, decade + 1].flatMap((whole) => steps.map((step) => whole + Math.log10(step)));
}

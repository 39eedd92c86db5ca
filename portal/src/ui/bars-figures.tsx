import type { BarsProps, Series } from './bars.js';
import { numberText } from './numbers.js';

/** A bar in words. */
export function barText(times: readonly string[], series: readonly Series[], at: number, isAtLeast = false): string {
  const parts = series.filter(({ values }) => (values[at] ?? 0) > 0);
  const texts = parts.map(
    ({ name, values }) => `${name} ${isAtLeast ? 'at least ' : ''}${numberText(values[at] ?? 0)}`,
  );
  return `${times[at] ?? ''}: ${texts.length === 0 ? 'nothing' : texts.join(', ')}`;
}

/** The parts of a bar, each with where it begins. */
export function stackOf(series: readonly Series[], at: number) {
  let from = 0;
  return series.map(({ name, values }, place) => {
    const value = values[at] ?? 0;
    from += value;
    return { name, value, place, from: from - value };
  });
}

const ROUND = [1, 2, 4, 6, 8, 10];

/** The next round number, so that the scale can be read. */
export function ceilingOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  return (ROUND.find((round) => round * power >= most) ?? 10) * power;
}

/** The figures of the picture. */
export function BarsTable({ label, times, series, isAtLeast }: BarsProps) {
  return (
    <div className="sr-only">
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, at) => (
            <tr key={time}>
              <th scope="row">{time}</th>
              {series.map(({ name, values }) => (
                <td key={name}>
                  {isAtLeast?.(at) && 'at least '}
                  {numberText(values[at] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

import { generate } from 'lean-qr';

const QUIET = 4;

/** A text for the camera of a phone. Dark on light in both themes, because cameras want it so. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const code = generate(text);
  const places = [...Array(code.size).keys()];
  const path = places
    .flatMap((y) => places.filter((x) => code.get(x, y)).map((x) => `M${x + QUIET} ${y + QUIET}h1v1h-1z`))
    .join('');
  const side = code.size + 2 * QUIET;
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${side} ${side}`} shapeRendering="crispEdges" className="size-44">
      <rect width={side} height={side} className="fill-white" />
      <path d={path} className="fill-black" />
    </svg>
  );
}

import fastJson from 'fast-json-stringify';
import { JsonText } from './json-text.js';
import type { KeptAnswer } from './kept-answer.js';
import type { Exchange, Responder } from './respond.js';
import type { RouteRecord } from './route.js';
import { Rendered } from './route.js';

/** Turns what a handler returns into the answer of its route. */
export interface Answerer {
  send(exchange: Exchange, value: unknown): void;
  /** The answer as it would go out, to be kept. */
  render(value: unknown): KeptAnswer;
  replay(exchange: Exchange, kept: KeptAnswer): void;
}

export function createAnswerer(route: RouteRecord, respond: Responder): Answerer {
  const { status, location } = route;
  // The serialiser is built from the response schema: a field that is not declared there has no way out.
  const write = route.response ? fastJson(route.response) : undefined;
  const writeText = write && ((value: unknown) => new JsonText(write(value)));
  const serialise = writeText && route.isRemembered ? writeOnce(writeText) : writeText;

  return {
    send(exchange, value) {
      const extra = location && ['Location', location(value)];
      if (value instanceof Rendered) respond.json(exchange, status, value.json, extra);
      else if (serialise) respond.json(exchange, status, serialise(value), extra);
      else respond.empty(exchange, status, extra ?? []);
    },
    render(value) {
      const body = value instanceof Rendered ? value.json : serialise?.(value);
      return { status, body: body?.text, location: location?.(value) };
    },
    replay(exchange, kept) {
      const extra = kept.location === undefined ? [] : ['Location', kept.location];
      if (kept.body === undefined) respond.empty(exchange, kept.status, extra);
      else respond.json(exchange, kept.status, new JsonText(kept.body), extra);
    },
  };
}

/** As long as the object lives, so does its text, and no longer. */
function writeOnce(write: (value: unknown) => JsonText): (value: unknown) => JsonText {
  const written = new WeakMap<object, JsonText>();
  return (value) => {
    if (typeof value !== 'object' || value === null) return write(value);
    let text = written.get(value);
    if (text === undefined) {
      text = write(value);
      written.set(value, text);
    }
    return text;
  };
}

import fastJson from 'fast-json-stringify';
import type { TSchema } from 'typebox';
import type { KeptAnswer } from '../../kept-answers/kept-answer.js';
import { assert } from '../../kernel/assert.js';
import { lazy } from '../../kernel/lazy.js';
import { JsonText } from '../transport/json-text.js';
import { PiecewiseList, textOfList } from '../transport/piecewise.js';
import type { Exchange, Responder } from '../transport/respond.js';
import type { RouteRecord } from './route.js';
import { OtherSuccess, Rendered, ToPage, WithCookie } from './route.js';

const SEE_OTHER = 303;

/** Turns what a handler returns into the answer of its route. */
export interface Answerer {
  /** Resolves once all of it is written, where that takes a while. */
  send(exchange: Exchange, value: unknown): void | Promise<void>;
  /** The answer as it would go out, to be kept. */
  render(value: unknown): KeptAnswer;
  replay(exchange: Exchange, kept: KeptAnswer): void;
}

export function createAnswerer(route: RouteRecord, respond: Responder): Answerer {
  const { status, location } = route;
  const { response } = route;
  // The serializer is built from the response schema, so an undeclared field cannot leave. It is built at the first answer:
  // all of them together take longer than the rest of a start.
  const serializer = response && lazy(() => fastJson(response));
  const itemSerializer = lazy(() => fastJson(itemSchemaOf(route)));
  const writeText = serializer && ((value: unknown) => new JsonText(serializer()(value)));
  const serialise = writeText && route.isRemembered ? writeOnce(writeText) : writeText;
  const renderOther = createOtherRenderer(route);

  function pieces(list: PiecewiseList): AsyncGenerator<Buffer, void, void> {
    assert(serializer !== undefined, 'a list has a schema');
    return textOfList(list, serializer(), itemSerializer());
  }

  function replay(exchange: Exchange, kept: KeptAnswer): void {
    const extra = kept.location === undefined ? [] : ['Location', kept.location];
    if (kept.body === undefined) respond.empty(exchange, kept.status, extra);
    else respond.json(exchange, kept.status, new JsonText(kept.body), extra);
  }

  return {
    send(exchange, given) {
      const cookies = given instanceof WithCookie ? headersOf(given.cookies) : undefined;
      if (given instanceof ToPage)
        return respond.empty(exchange, SEE_OTHER, ['Location', given.path, ...headersOf(given.cookies)]);
      const value = given instanceof WithCookie ? given.value : given;
      if (value instanceof OtherSuccess) return replay(exchange, renderOther(value));
      if (value instanceof PiecewiseList) return respond.pieces(exchange, status, pieces(value));
      const extra = cookies ?? (location && ['Location', location(value)]);
      if (value instanceof Rendered) return respond.json(exchange, status, value.json, extra);
      if (serialise) return respond.json(exchange, status, serialise(value), extra);
      return respond.empty(exchange, status, extra ?? []);
    },
    render(value) {
      if (value instanceof OtherSuccess) return renderOther(value);
      const body = value instanceof Rendered ? value.json : serialise?.(value);
      return { status, body: body?.text, location: location?.(value) };
    },
    replay,
  };
}

function headersOf(cookies: readonly string[]): string[] {
  return cookies.flatMap((each) => ['Set-Cookie', each]);
}

/** Of the answers a route has besides its usual one. */
export function createOtherRenderer({ otherSuccess }: RouteRecord): (answer: OtherSuccess) => KeptAnswer {
  const response = otherSuccess?.response;
  const serializer = response && lazy(() => fastJson(response));
  return ({ value }) => {
    assert(otherSuccess !== undefined, 'the record says which other success there is');
    return { status: otherSuccess.status, body: serializer?.()(value), location: undefined };
  };
}

/** The schema of an item, in that of a list. */
export function itemSchemaOf({ response }: RouteRecord): TSchema {
  const { properties } = response as { properties?: { data?: { items?: TSchema } } }; // Only lists have them.
  const items = properties?.data?.items;
  assert(items !== undefined, 'only a list is sent in pieces');
  return items;
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

import type { Static, TSchema } from 'typebox';
import Type from 'typebox';
import { listSchema, named, text } from '../routes/schema.js';

export const PAGE_SIZE_DEFAULT = 20;
export const PAGE_SIZE_MAX = 100;
const PAGE_NUMBER_MAX = 2_147_483_647;

const Size = Type.Integer({
  minimum: 1,
  maximum: PAGE_SIZE_MAX,
  default: PAGE_SIZE_DEFAULT,
  description: 'Items on a page',
});

/** Members of a query, or of the body of a search, that asks for a page by its number. */
export const OffsetQuery = {
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: PAGE_NUMBER_MAX, default: 1, description: 'Number of the page' }),
  ),
  size: Type.Optional(Size),
};

/** Members of a query, or of the body of a search, that follows a cursor. */
export const CursorQuery = {
  start: Type.Optional(text({ description: 'Cursor: the `after` of an earlier page' })),
  size: Type.Optional(Size),
};

export const OffsetPagination = named('OffsetPagination', {
  total_items: Type.Integer(),
  page_number: Type.Integer(),
  page_size: Type.Integer(),
  total_pages: Type.Integer(),
});

export const CursorPagination = named('CursorPagination', {
  page_size: Type.Integer(),
  after: Type.Optional(Type.String({ description: 'Cursor of the next page; absent on the last one' })),
  next: Type.Optional(Type.String({ description: 'The same cursor' })),
});

export type OffsetPagination = Static<typeof OffsetPagination>;
export type CursorPagination = Static<typeof CursorPagination>;

export function offsetListOf<T extends TSchema>(title: string, item: T) {
  return listSchema(title, OffsetPagination, item);
}

export function cursorListOf<T extends TSchema>(title: string, item: T) {
  return listSchema(title, CursorPagination, item);
}

/** Which rows a page asked for by number holds. */
export interface PageAsked {
  readonly page: number;
  readonly size: number;
  /** Rows before it: beyond what an integer column holds, so bind it as a bigint. */
  readonly offset: number;
}

export function pageAsked(query: { readonly page?: number; readonly size?: number }): PageAsked {
  const { page = 1, size = PAGE_SIZE_DEFAULT } = query;
  return { page, size, offset: (page - 1) * size };
}

/** A page past the end is a page too: it has its number and no rows. */
export function offsetPage(asked: { readonly total: number; readonly page: number; readonly size: number }) {
  const { total, page, size } = asked;
  return {
    total_items: total,
    page_number: page,
    page_size: size,
    total_pages: Math.ceil(total / size),
  } satisfies OffsetPagination;
}

export function cursorPage(size: number, after: string | undefined): CursorPagination {
  return { page_size: size, ...(after !== undefined && { after, next: after }) };
}

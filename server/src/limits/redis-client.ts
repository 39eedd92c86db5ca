/**
 * The parts of the Redis client that are used. It is a module of its own so that it can be loaded on demand: a bundle keeps the
 * names of a CommonJS package only where they are imported statically.
 */
export { createClient, ErrorReply } from '@redis/client';

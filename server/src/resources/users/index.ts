export { hasAnyUser, insertUser, isUser } from './queries.js';

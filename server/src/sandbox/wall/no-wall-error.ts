/** Why no wall can be made here, in words for anybody. */
export class NoWallError extends Error {}

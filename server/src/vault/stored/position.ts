/** A position in the order in which tokens were made: between the one made then, of those by its tie, and the next. */
export interface TokenPosition {
  readonly createdAtMs: number;
  readonly tie: string;
}

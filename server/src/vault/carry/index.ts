// For the operator's export and import alone: tokens go out and in whole, and no right is asked for.
export type { BringCounts, BringIn, BringInOptions, BroughtToken } from './bring-in.js';
export { createBringIn } from './bring-in.js';
export type { CarriedBatch, CarriedToken, TakeOut, TakeOutOptions } from './take-out.js';
export { createTakeOut } from './take-out.js';

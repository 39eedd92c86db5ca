import type { Statement } from './statement.js';
import { plainStatement } from './statement.js';

/**
 * For statements that are meant to have only one plan: a list read along the index that has its order. Holds until the
 * transaction ends.
 *
 * Left alone the server sorts when it expects few rows, and it expects too few: the policies of row-level security
 * count against the estimate a second time, and a table that was just filled has no statistics. A sort it cannot avoid
 * has a prohibitive price up to version 17, which must not make it compile the statement. And planning such a statement
 * takes longer than running it, so it is planned once for a connection and not for each set of values.
 *
 * Not on a distributed database: a plan for all values leads to all servers. What those that have the rows prefer is a setting of
 * the working roles there.
 */
export const READ_IN_ORDER: Statement<unknown> = plainStatement(
  'read_in_order',
  `SELECT set_config('enable_sort', 'off', true), set_config('jit', 'off', true),
          set_config('plan_cache_mode', 'force_generic_plan', true)`,
);

/** The same for statements that an index answers wherever it is asked, also where the server believes that all rows will do. */
export const READ_BY_INDEX: Statement<unknown> = plainStatement(
  'read_by_index',
  `SELECT set_config('enable_sort', 'off', true), set_config('jit', 'off', true),
          set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
          set_config('enable_bitmapscan', 'off', true)`,
);

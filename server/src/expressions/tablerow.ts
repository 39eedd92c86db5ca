import type { Liquid, Parser, TagToken, TopLevelToken } from 'liquidjs';
import { TablerowTag } from 'liquidjs';
import { invalidExpression } from './faults.js';

/** The library converts `cols` to a number again and again, so it has to be one already. */
export class BoundedTablerow extends TablerowTag {
  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid, parser: Parser) {
    super(token, remaining, liquid, parser);
    const columns = this.args.hash.cols;
    if (columns === undefined) return;
    if (!('content' in columns) || typeof columns.content !== 'number' || columns.content < 1) {
      throw invalidExpression('The number of columns of a tablerow is a number from 1.');
    }
  }
}

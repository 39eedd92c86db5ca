import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../kernel/errors.js';
import { createRouter } from './router.js';

const PATHS = ['/tokens', '/tokens/search', '/tokens/:id', '/tokens/:id/parts/:part_id', '/tenants/self'];

const route = createRouter([
  ...PATHS.map((path) => ({ method: 'GET', path, target: path })),
  { method: 'PUT', path: '/tokens/:id', target: 'put' },
]);

function found(pathname: string): [string, Record<string, string>] | undefined {
  const match = route(pathname);
  const target = match?.byMethod.get('GET');
  return match && target !== undefined ? [target, { ...match.params }] : undefined;
}

describe('the router', () => {
  it('finds a fixed path before a pattern that would match it too', () => {
    assert.deepEqual(found('/tokens/search'), ['/tokens/search', {}]);
    assert.deepEqual(found('/tokens/%73earch'), ['/tokens/search', {}]);
    assert.deepEqual(found('/tokens/searching'), ['/tokens/:id', { id: 'searching' }]);
  });

  it('keeps every method of a path together', () => {
    assert.deepEqual([...(route('/tokens/1')?.byMethod.keys() ?? [])], ['GET', 'PUT']);
  });

  it('takes one trailing slash, and no more', () => {
    assert.deepEqual(found('/tokens/'), ['/tokens', {}]);
    assert.deepEqual(found('/tokens/1/'), ['/tokens/:id', { id: '1' }]);
    for (const path of [
      '/tokens//',
      '//tokens',
      '/tokens//1',
      '/tokens/1//parts/2',
      '/',
      '',
      '/Tokens',
      '/tenants/self/x',
    ]) {
      assert.equal(found(path), undefined, path);
    }
  });

  it('gives back any segment that was encoded, decoded once', () => {
    const segment = fc.string({ unit: 'grapheme', minLength: 1 });
    fc.assert(
      fc.property(segment, segment, (id, part) => {
        const path = `/tokens/${encodeURIComponent(id)}/parts/${encodeURIComponent(part)}`;
        assert.deepEqual(found(path), ['/tokens/:id/parts/:part_id', { id, part_id: part }]);
      }),
    );
    assert.deepEqual(found('/tokens/%2541'), ['/tokens/:id', { id: '%41' }]);
    assert.deepEqual(found('/tokens/a%2Fparts%2Fb'), ['/tokens/:id', { id: 'a/parts/b' }]);
  });

  it('400 and nothing else for what cannot be decoded, and the path is never quoted', () => {
    for (const path of ['/%', '/tokens/%zz', '/tokens/%FF', '/tokens/%ED%A0%80', '/nothing/%E0%A4']) {
      assert.throws(
        () => route(path),
        (error) => error instanceof AppError && error.code === 'malformed_request' && !error.message.includes(path),
        path,
      );
    }
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (path) => {
        try {
          route(`/${path}`);
        } catch (error) {
          assert.ok(error instanceof AppError && error.code === 'malformed_request');
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('paths with an open end', () => {
  const OPEN = ['/files/*', '/files/:id', '/files/known', '/files/:id/*', '/*', '/files/known/*'];
  const open = createRouter([
    ...OPEN.map((path) => ({ method: 'GET', path, target: path })),
    { method: 'POST', path: '/files/*', target: 'posted' },
  ]);
  const at = (pathname: string): [string | undefined, Record<string, string>] | undefined => {
    const match = open(pathname);
    return match && [match.byMethod.get('GET'), { ...match.params }];
  };

  it('take a fixed segment before a parameter, and a parameter before the rest', () => {
    assert.deepEqual(at('/files/known'), ['/files/known', {}]);
    assert.deepEqual(at('/files/other'), ['/files/:id', { id: 'other' }]);
    assert.deepEqual(at('/files/known/x'), ['/files/known/*', { '*': '/x' }]);
    assert.deepEqual(at('/files/other/x/y'), ['/files/:id/*', { id: 'other', '*': '/x/y' }]);
    assert.deepEqual(at('/files'), ['/files/*', { '*': '' }]);
    assert.deepEqual(at('/files/'), ['/files/*', { '*': '/' }]);
    assert.deepEqual(at('/files//x'), ['/files/*', { '*': '//x' }]);
    assert.deepEqual(at('/else/where'), ['/*', { '*': '/else/where' }]);
    assert.deepEqual(at('/'), ['/*', { '*': '/' }]);
  });

  it('give the rest as it was sent, whatever was encoded before or in it', () => {
    assert.deepEqual(at('/%66iles//a%2Fb/%41/'), ['/files/*', { '*': '//a%2Fb/%41/' }]);
    assert.deepEqual(at('/x%2Fy/z'), ['/*', { '*': '/x%2Fy/z' }]);
    assert.throws(() => open('/files//%zz'), { code: 'malformed_request' });
    assert.equal(open('/files//%00'), undefined);
  });

  it('do not take a method over from a path that fits better', () => {
    assert.equal(open('/files/known')?.byMethod.get('POST'), undefined);
    assert.equal(open('/files//x')?.byMethod.get('POST'), 'posted');
  });
});

import { bundleServer } from './bundle-server.js';

/** The part of `npm run build` after the compiler. Each makes its result again only if its sources changed. */
await Promise.all([bundleServer(), import('@strongroom/engine/build.js'), import('@strongroom/portal/build.js')]);

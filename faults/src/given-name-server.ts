import { promises } from 'node:dns';

/** Loaded into an API node before it (`--import`): names are asked of this server of the suite, not of the machine's. */
const SERVERS = process.env.FAULTS_NAME_SERVER?.split(',') ?? [];

if (SERVERS.length > 0) {
  const RealResolver = promises.Resolver;
  promises.Resolver = class extends RealResolver {
    constructor(options?: ConstructorParameters<typeof RealResolver>[0]) {
      super(options);
      this.setServers(SERVERS);
    }
  };
}

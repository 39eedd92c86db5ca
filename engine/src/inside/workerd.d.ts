/** What the engine has beyond the web's own interfaces, as far as it is used here. */
declare module 'cloudflare:workers' {
  export class WorkerEntrypoint<Env = unknown> {
    protected readonly env: Env;
  }
}

/** Texts that the engine's configuration holds under these names. */
declare module 'package-texts' {
  /** The bundled text of each package, by the name code requires it under. */
  const texts: Readonly<Record<string, string>>;
  export default texts;
}
declare module 'tenant-main' {
  const text: string;
  export default text;
}

/** What the loader makes of a tenant's code: see `wrapped` in loader.ts. */
declare module 'tenant-code' {
  const parts: readonly [
    require: (this: unknown, name: string) => unknown,
    scope: unknown,
    code: (this: unknown, exports: unknown, require: unknown, module: unknown, file: string, folder: string) => void,
  ];
  export default parts;
}

declare module 'tenant-require' {
  const text: string;
  export default text;
}

/** The same text as a module, in the isolate of tenant code. */
declare module 'require-with' {
  const module: { requireWith(real: unknown, scope: unknown): unknown };
  export default module;
}

declare module 'axios/dist/browser/axios.cjs' {
  const axios: { readonly defaults: { readonly transformRequest: unknown[] } };
  export default axios;
}

export interface CurrentProxy {
  readonly tenantId: string;
  readonly proxyId: string;
  readonly version: number;
  readonly definition: {
    readonly name: string;
    readonly destinationUrl: string;
    readonly requestTransform: string | null;
    readonly responseTransform: string | null;
    readonly applicationId: string | null;
    readonly configuration: Readonly<Record<string, string>>;
    readonly requireAuth: boolean;
  };
}
export type FindProxy = (key: string) => Promise<CurrentProxy | undefined>;

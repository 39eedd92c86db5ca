import type { SettingKind, Settings } from '../../kernel/setting.js';
import type { OidcIssuer } from './issuers-file.js';
import { readOidcIssuers } from './issuers-file.js';

const ISSUERS: SettingKind<readonly OidcIssuer[]> = { values: 'path of a JSON file', parse: readOidcIssuers };

export const OIDC_SETTINGS = {
  oidcIssuers: {
    name: 'STRONGROOM_OIDC_ISSUERS_FILE',
    kind: ISSUERS,
    default: undefined,
    about: 'OpenID Connect issuers with which people may sign in to the Portal ([form](openid-connect.md))',
  },
} satisfies Settings;

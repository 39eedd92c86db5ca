import Type from 'typebox';
import { named } from '../../../http/routes/schema.js';

const Texts = Type.Array(Type.String());

/** As the method `parseCreationOptionsFromJSON` of browsers takes it (WebAuthn, level 3). */
export const PasskeyCreationOptions = named('PortalPasskeyCreationOptions', {
  challenge: Type.String(),
  rp: named('PortalPasskeyParty', { name: Type.String(), id: Type.Optional(Type.String()) }),
  user: named('PortalPasskeyUser', { id: Type.String(), name: Type.String(), displayName: Type.String() }),
  pubKeyCredParams: Type.Array(
    named('PortalPasskeyAlgorithm', { alg: Type.Integer(), type: Type.Literal('public-key') }),
  ),
  timeout: Type.Optional(Type.Integer()),
  attestation: Type.Optional(Type.String()),
  excludeCredentials: Type.Optional(
    Type.Array(
      named('PortalPasskeyDescriptor', {
        id: Type.String(),
        type: Type.Literal('public-key'),
        transports: Type.Optional(Texts),
      }),
    ),
  ),
  authenticatorSelection: Type.Optional(
    named('PortalPasskeySelection', {
      residentKey: Type.Optional(Type.String()),
      requireResidentKey: Type.Optional(Type.Boolean()),
      userVerification: Type.Optional(Type.String()),
    }),
  ),
});

/** As `parseRequestOptionsFromJSON` takes it. */
export const PasskeyRequestOptions = named('PortalPasskeyRequestOptions', {
  challenge: Type.String(),
  rpId: Type.Optional(Type.String()),
  timeout: Type.Optional(Type.Integer()),
  userVerification: Type.Optional(Type.String()),
});

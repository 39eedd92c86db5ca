import type { ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { DocumentObject } from './document.js';

/** Judges bodies by the published document alone, as a client or a proxy would that has nothing else. */
export function createBodyJudge(document: DocumentObject): (method: string, path: string) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'document');
  return (method, path) => {
    const place = ['paths', path, method.toLowerCase(), 'requestBody', 'content', 'application/json', 'schema'];
    const pointer = place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
    return ajv.compile({ $ref: `document#/${encodeURI(pointer)}` });
  };
}

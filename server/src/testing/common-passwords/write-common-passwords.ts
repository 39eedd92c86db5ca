import { writeFile } from 'node:fs/promises';
import { COMMON_PASSWORDS_FILE } from '../../people/password/common-passwords.js';
import { generateCommonPasswords } from './generate.js';

await writeFile(COMMON_PASSWORDS_FILE, `${generateCommonPasswords().join('\n')}\n`);

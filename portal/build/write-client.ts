import { generate } from './generate.js';

await generate();

import { writeConfigurationPage } from './configuration-page.js';

await writeConfigurationPage();

import { readFile, writeFile } from 'node:fs/promises';
import { SETTINGS } from '../config.js';
import type { Setting } from '../kernel/setting.js';

const PAGE = new URL('../../../docs/configuration.md', import.meta.url);
const NO_DEFAULT = '–';
const EMPTY_DEFAULT = '(empty)';
/** Between these lines stands what is generated; the rest of the page is written by hand. */
const GENERATED = /(<!-- generated: npm run configuration-page -->\n)[\s\S]*?(<!-- end of what is generated -->)/;

/** The page as it has to be: its table and its list of secrets are those of the code. */
export function withSettings(page: string): string {
  if (!GENERATED.test(page)) throw new Error('the page has no marks around what is generated');
  return page.replace(GENERATED, (_, begin: string, end: string) => `${begin}\n${settingsText()}\n${end}`);
}

/** `npm run configuration-page`. */
export async function writeConfigurationPage(): Promise<void> {
  await writeFile(PAGE, withSettings(await readFile(PAGE, 'utf8')));
}

function settingsText(): string {
  const settings: readonly Setting<unknown>[] = Object.values(SETTINGS);
  const rows = settings.map((setting) => {
    const cells = [`\`${setting.name}\``, setting.kind.values, shownDefault(setting.default), setting.about];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  const secret = settings.filter(({ isSecret }) => isSecret).map(({ name }) => `\`${name}\``);
  const head = ['| Setting | Values | Default | Meaning |', '|---|---|---|---|'];
  return `${[...head, ...rows].join('\n')}\n\nSecret: ${secret.join(',\n')}.\n`;
}

function shownDefault(preset: string | undefined): string {
  if (preset === undefined) return NO_DEFAULT;
  return preset === '' ? EMPTY_DEFAULT : `\`${preset}\``;
}

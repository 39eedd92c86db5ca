import { Menu as BaseMenu } from '@base-ui/react/menu';
import type { ReactNode } from 'react';
import { classes } from './classes.js';

export interface MenuItem {
  /** Where two may have the same text. */
  readonly key?: string;
  readonly text: string;
  readonly icon?: ReactNode;
  readonly isDanger?: boolean;
  readonly onSelect: () => void;
}

export interface MenuProps {
  /** What is on the button. */
  readonly trigger: ReactNode;
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly triggerClassName?: string;
}

/** Acts behind a button. */
export function Menu({ trigger, label, items, triggerClassName }: MenuProps) {
  return (
    <BaseMenu.Root>
      <BaseMenu.Trigger
        aria-label={label}
        className={
          triggerClassName ??
          'inline-flex size-9 items-center justify-center rounded-lg text-muted hover:bg-sunken hover:text-ink'
        }
      >
        {trigger}
      </BaseMenu.Trigger>
      <BaseMenu.Portal>
        <BaseMenu.Positioner sideOffset={4} align="end" className="z-40">
          <BaseMenu.Popup className="max-h-80 min-w-44 overflow-y-auto rounded-xl border border-line bg-card p-1 shadow-lg">
            {items.map(({ key, text, icon, isDanger, onSelect }) => (
              <BaseMenu.Item
                key={key ?? text}
                onClick={onSelect}
                className={classes(
                  'flex cursor-pointer items-center gap-2 rounded-lg px-3 py-2 text-sm outline-none data-highlighted:bg-sunken',
                  isDanger && 'text-danger',
                )}
              >
                {icon}
                {text}
              </BaseMenu.Item>
            ))}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}

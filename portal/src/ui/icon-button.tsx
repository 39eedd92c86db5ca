import type { LucideIcon } from 'lucide-react';
import type { ComponentProps } from 'react';

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  readonly icon: LucideIcon;
  /** What it does, also read out. */
  readonly label: string;
}

/** A button with no room for words. */
export function IconButton({ icon: Icon, label, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className="inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-muted hover:bg-sunken hover:text-ink disabled:opacity-40 disabled:hover:bg-transparent"
    >
      <Icon aria-hidden className="size-4" />
    </button>
  );
}

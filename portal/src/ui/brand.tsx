/** The mark, with the name beside it. The same mark is the icon in index.html. */
export function Brand() {
  return (
    <span className="inline-flex items-center gap-2.5">
      <svg aria-hidden viewBox="0 0 32 32" className="size-8">
        <rect width="32" height="32" rx="8" className="fill-[#0f766e]" />
        <path d="M9 14h14v9a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 9 23z" className="fill-white" />
        <path d="M12 14v-2.5a4 4 0 0 1 8 0V14" className="fill-none stroke-white stroke-[2.4]" />
        <circle cx="16" cy="18.4" r="1.7" className="fill-[#0f766e]" />
        <path d="M16 19v2.6" strokeLinecap="round" className="stroke-[#0f766e] stroke-[1.6]" />
      </svg>
      <span className="text-lg font-semibold tracking-tight">Strongroom</span>
    </span>
  );
}

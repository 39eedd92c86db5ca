// Before the first paint, so that nothing flashes in the other theme.
(() => {
  const chosen = localStorage.getItem('strongroom.theme');
  const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
})();

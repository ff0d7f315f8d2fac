// The page follows the system until its reader chooses; the choice is kept where that is allowed.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const kept = { get: () => { try { return localStorage.getItem("theme"); } catch { return null; } },
    set: (theme) => { try { localStorage.setItem("theme", theme); } catch { /* not allowed */ } } };
  const system = () => matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const chosen = kept.get();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = (root.dataset.theme || system()) === "dark" ? "light" : "dark";
    kept.set(root.dataset.theme);
  });
})();

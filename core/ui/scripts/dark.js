// Popovers and dialogs stand outside of the element that Streamlit tells whether it is dark: the whole page is told.
const findApp = () => {
  const app = document.querySelector("[data-testid=stApp]");
  if (!app) return;
  drawn.disconnect();
  const tell = () => (document.documentElement.style.colorScheme = getComputedStyle(app).colorScheme);
  new MutationObserver(tell).observe(app, { attributeFilter: ["class"] });
  tell();
};
const drawn = new MutationObserver(findApp);
drawn.observe(document.body, { childList: true, subtree: true });
findApp();

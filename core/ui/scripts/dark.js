// Popovers and dialogs stand outside of the element that Streamlit tells whether it is dark: the whole page is told.
const app = document.querySelector("[data-testid=stApp]");
const tell = () => (document.documentElement.style.colorScheme = getComputedStyle(app).colorScheme);
new MutationObserver(tell).observe(app, { attributeFilter: ["class"] });
tell();

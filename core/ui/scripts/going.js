// A link inside the page's own HTML leads to another state of the page as Streamlit's links do: without loading it anew. A table of
// contents that was opened above the text folds when a line of it was chosen.
document.addEventListener("click", (event) => {
  const contents = event.target.closest?.(".wy-contents a")?.closest("details");
  if (contents) contents.open = false;
  const link = event.target.closest?.("a.wy-go");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  history.pushState({}, "", link.href);
  dispatchEvent(new PopStateEvent("popstate"));
});

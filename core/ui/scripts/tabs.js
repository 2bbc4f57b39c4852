// What changes in a conversation is told to the other tabs of this browser; those that show it look for it when they are at rest. So does a
// page that was hidden for a while: on another device more may have been said. Nobody asks the server while nothing happens.
const LONG_HIDDEN = 30_000;
const tabs = "BroadcastChannel" in window ? new BroadcastChannel("wenyuan") : null;
const shown = () => new URLSearchParams(location.search);
let hiddenAt = Infinity;
let again = 0;
let isComposing = false;

const look = () => {
  clearTimeout(again);
  const isAtRest = document.querySelector('[data-testid="stApp"][data-test-script-state="notRunning"]');
  if (isComposing || !isAtRest) {
    again = setTimeout(look, 500);
    return;
  }
  const address = new URL(location.href);
  if (!address.searchParams.has("c") && !address.searchParams.has("s")) return;
  address.searchParams.set("look", "1");
  history.replaceState(history.state, "", address);
  dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
};

addEventListener("wy-changed", ({ detail }) => tabs?.postMessage(detail));
tabs?.addEventListener("message", ({ data }) => {
  if (data && data === shown().get("c")) look();
});
document.addEventListener("compositionstart", () => (isComposing = true));
document.addEventListener("compositionend", () => (isComposing = false));
document.addEventListener("visibilitychange", () => {
  if (document.hidden) hiddenAt = Date.now();
  else if (Date.now() - hiddenAt > LONG_HIDDEN && (shown().has("c") || shown().has("s"))) look();
});

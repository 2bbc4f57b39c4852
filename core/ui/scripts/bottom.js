// A way back to the end of a long conversation, for whoever has scrolled up by a screen or more.
const way = Object.assign(document.createElement("button"), {
  type: "button",
  className: "wy-to-bottom",
  title: "回到底部",
  textContent: "↓ 回到底部",
  hidden: true,
});
let scrolled = null;
way.addEventListener("click", () => scrolled?.scrollTo({ top: scrolled.scrollHeight }));
document.body.append(way);
document.addEventListener(
  "scroll",
  ({ target }) => {
    if (target === document || !target.querySelector("[data-testid=stChatMessage]")) return;
    scrolled = target;
    way.hidden = target.scrollHeight - target.scrollTop - target.clientHeight < target.clientHeight;
  },
  { capture: true, passive: true },
);

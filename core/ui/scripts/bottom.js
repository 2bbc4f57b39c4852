// A way to the end of the conversation, above the input, where more than a screen is below.
const way = Object.assign(document.createElement("button"), {
  type: "button",
  className: "wy-to-bottom",
  textContent: "↓ 回到底部",
  hidden: true,
});
const find = (id) => document.querySelector(`[data-testid=${id}]`);
const look = () => {
  const main = find("stMain"), bottom = find("stBottom");
  if (!bottom) return;
  if (way.parentElement !== bottom) bottom.prepend(way);
  const isFar = main.querySelector("[data-testid=stChatMessage]") && main.scrollHeight - main.scrollTop - main.clientHeight >= main.clientHeight;
  if (way.hidden === Boolean(isFar)) way.hidden = !isFar;
};
way.addEventListener("click", () => find("stMain").scrollTo({ top: find("stMain").scrollHeight }));
document.addEventListener("scroll", look, { capture: true, passive: true });
new MutationObserver(look).observe(document.body, { childList: true, characterData: true, subtree: true });

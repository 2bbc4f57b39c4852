// From a cited passage of a file to its place in 来源原文: beside the answer where the desk is open (desk.js), else in the dialog.
const FIELD = ".st-key-passage-wanted input";
let clicks = 0;
const answerOf = (button) => {
  const message = button.closest("[data-testid=stChatMessage]");
  const named = message?.querySelector("[class*=st-key-sources-]")?.className ?? "";
  return button.closest("[data-answer]")?.dataset.answer ?? /st-key-sources-([\w-]+)/.exec(named)?.[1];
};
const openAt = (answer, passage) => {
  const field = document.querySelector(FIELD);
  if (!field || !answer) return;
  const [number, position, form = "text"] = passage.split("/");
  clicks += 1; // the same passage may be opened again
  const wanted = [answer, number, position, form, clicks].join("/");
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, wanted);
  field.dispatchEvent(new Event("input", { bubbles: true }));
};
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-passage]");
  if (!button) return;
  const answer = answerOf(button);
  const isTold = !document.dispatchEvent(new CustomEvent("wy-passage", { cancelable: true, detail: { button, answer } }));
  if (!isTold) openAt(answer, button.dataset.passage);
});

// The wanted passage is scrolled to in its box, once: afterwards the reader moves.
const seen = new WeakSet();
const showPassage = () => {
  const mark = document.querySelector(".wy-page-text mark.wanted");
  if (!mark || seen.has(mark)) return;
  seen.add(mark);
  const box = mark.closest(".wy-page-text");
  box.scrollTop += mark.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
  mark.scrollIntoView({ block: "nearest" }); // a low window shows but a part of the dialog
};
new MutationObserver(showPassage).observe(document.body, { childList: true, subtree: true });

// A page of a PDF is enlarged in its box, which scrolls then.
document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("[data-zoom]");
  const box = button?.nextElementSibling;
  if (!box) return;
  const isLarge = box.classList.toggle("large");
  button.setAttribute("aria-pressed", isLarge);
  button.textContent = isLarge ? "缩小" : "放大";
});

// A question that was sent goes to the top of the page, and its answer grows below it. Where the steps take more than two thirds
// of the screen, the page goes to the answer's first line, below the last of them. Nothing else moves the page but its reader.
const GAP = 16;
const FAR = 2 / 3, NEAR = 1 / 4;
const START = ".wy-answer, .katex-display, [data-testid=stCode], [data-testid=stAlertContentError]";
let main, block, bottom;
let path = location.pathname;
let seen = ""; // the conversation and how many questions were asked, as they were when the page last went to a question
let held = null; // the question that keeps its place on the screen, or the first line of its answer
let place = 0, height = 0; // how far the page is scrolled, and how much of it is seen, as it was left
let notes = null; // how many notes there were when a command was sent

const find = (id) => document.querySelector(`[data-testid=${id}]`);
const seenHeight = () => main.clientHeight - bottom.offsetHeight;
const topOf = (element) => element.getBoundingClientRect().top;
const seenTop = () => find("stHeader").getBoundingClientRect().bottom;
const findAll = (selector) => Array.from(main.querySelectorAll(selector));
const questions = () => findAll("[data-testid=stChatMessage] .wy-question");
const findNotes = () => findAll("[data-testid=stAlert]").filter((note) => !note.closest("[data-testid=stChatMessage]"));

// Of what is drawn around it the browser would keep another element in its place.
const keep = (element) => {
  held = element;
  if (main) main.style.overflowAnchor = element ? "none" : "";
};
const findHeld = () => {
  const messages = findAll("[data-testid=stChatMessage]");
  const question = questions().at(held.index)?.closest("[data-testid=stChatMessage]");
  const answer = question && messages[messages.indexOf(question) + 1];
  const starts = answer?.querySelector(".wy-question") ? [] : Array.from(answer?.querySelectorAll(START) ?? []);
  return { question, start: starts.find((part) => !part.closest("details")) };
};
// The page is always so long that it can stay where it is: also below a short answer, and while an answer is drawn anew.
const stay = (scrolled) => {
  place = Math.max(0, Math.round(scrolled));
  height = seenHeight();
  block.style.minHeight = `${place + height}px`;
  if (Math.abs(main.scrollTop - place) >= 1) main.scrollTop = place;
};
const hold = () => {
  const { question, start } = findHeld();
  const room = seenHeight() - seenTop();
  const isFar = start && topOf(start) - topOf(question) > FAR * room;
  if (isFar && !held.isMoved && !held.isStart) Object.assign(held, { isStart: true, top: seenTop() + NEAR * room });
  const element = held.isStart ? start : question;
  if (element) stay(main.scrollTop + topOf(element) - held.top);
};
// Where the reader has scrolled to is kept as well, while an answer above is drawn anew.
const follow = () => {
  const { question, start } = findHeld();
  const isStart = Boolean(start) && topOf(start) < seenHeight();
  keep(question ? { ...held, isMoved: true, isStart, top: topOf(isStart ? start : question) } : null);
};
const leave = () => {
  keep(null);
  if (block) block.style.minHeight = "";
  if (main) main.scrollTop = place = 0;
};

const onScroll = () => {
  if (!seen) return;
  if (held && seenHeight() !== height) return hold(); // by the browser: the window or the input has another height
  if (Math.abs(main.scrollTop - place) < 1) return;
  if (held) follow();
  stay(main.scrollTop);
};
const onResize = () => bottom && (held ? hold() : seen && stay(main.scrollTop));
const resized = new ResizeObserver(onResize);

const findParts = () => {
  const now = [find("stMain"), find("stMainBlockContainer"), find("stBottom")];
  if (now[0] === main && now[1] === block && now[2] === bottom) return;
  resized.disconnect();
  main?.removeEventListener("scroll", onScroll);
  [main, block, bottom] = now;
  main?.addEventListener("scroll", onScroll, { passive: true });
  now.filter(Boolean).forEach((part) => resized.observe(part));
};
const asked = () => {
  const address = new URLSearchParams(location.search);
  return `${address.get("c") ?? address.get("s") ?? ""}/${questions().at(-1).dataset.asked ?? ""}`;
};
const goToNote = () => {
  const below = findNotes().at(-1).getBoundingClientRect().bottom + GAP - seenHeight();
  notes = null;
  keep(null);
  if (below > 0) stay(main.scrollTop + below);
};
const look = () => {
  findParts();
  if (path !== location.pathname) {
    path = location.pathname;
    leave();
  }
  const count = main && bottom ? questions().length : 0;
  if (!count && seen) leave();
  const now = count ? asked() : "";
  // The same conversation in a new session, after its server was gone for a while, does not call its reader away.
  const isNew = now !== seen && !seen.startsWith(now);
  seen = now;
  if (isNew) keep({ index: count - 1, top: seenTop() + GAP });
  if (held && count) hold();
  if (notes !== null && bottom && findNotes().length > notes) goToNote();
};
new MutationObserver(look).observe(document.body, { childList: true, characterData: true, subtree: true });

// Whoever opens a fold wants it where it is. Older messages come above what is read.
document.addEventListener("click", ({ target }) => {
  if (!bottom || !target.closest?.("[data-testid=stMainBlockContainer]")) return;
  keep(null);
  const [first] = questions();
  if (first && target.closest(".st-key-older-messages"))
    keep({ index: -questions().length, isMoved: true, top: topOf(first.closest("[data-testid=stChatMessage]")) });
});
const sent = () => {
  if (bottom && find("stChatInputTextArea")?.value.startsWith("/")) notes = findNotes().length;
};
document.addEventListener("keydown", (event) => event.key === "Enter" && sent(), { capture: true });
document.addEventListener("click", (event) => event.target.closest?.("[data-testid=stChatInputSubmitButton]") && sent(), { capture: true });

// A question that was sent goes to the top of the page, and its answer grows below it. Where the steps take more than two thirds
// of the screen, the page goes to the answer's first line, below the last of them. Nothing else moves the page but its reader:
// whatever is drawn, a question, or the first line of its answer, keeps its place on the screen.
const GAP = 16;
const FAR = 2 / 3, NEAR = 1 / 4;
const MESSAGE = "[data-testid=stChatMessage]";
const START = ".wy-answer, .katex-display, [data-testid=stCode], [data-testid=stAlertContentError]";
let main, block, bottom;
let path = location.pathname;
let seen = ""; // the conversation, and how many questions were asked, when the page last went to a question
let held = null; // what keeps its place
let place = 0, height = 0; // how far the page is scrolled, and how much of it is seen
let notes = null; // how many notes there were when a command was sent

const find = (id) => document.querySelector(`[data-testid=${id}]`);
const findAll = (selector, within = main) => Array.from(within.querySelectorAll(selector));
const questions = () => findAll(`${MESSAGE} .wy-question`);
const findNotes = () => findAll("[data-testid=stAlert]").filter((note) => !note.closest(MESSAGE));
const topOf = (element) => element.getBoundingClientRect().top;
const topOfMessage = (question) => topOf(question.closest(MESSAGE));
const seenTop = () => find("stHeader").getBoundingClientRect().bottom;
const seenBottom = () => main.clientHeight - bottom.offsetHeight;

// Streamlit draws other messages into the same elements: a question is known by its words, counted from the end.
const alike = (words) => questions().filter((question) => question.textContent === words);
const refer = (question, rest) => {
  const words = question.textContent, same = alike(words);
  return { words, fromEnd: same.indexOf(question) - same.length, top: topOfMessage(question), ...rest };
};
const findHeld = () => {
  const question = alike(held.words).at(held.fromEnd);
  const messages = findAll(MESSAGE);
  const next = question && messages[messages.indexOf(question.closest(MESSAGE)) + 1];
  const starts = next && !next.querySelector(".wy-question") ? findAll(START, next) : [];
  return { question, start: starts.find((part) => !part.closest("details")) };
};
// Of what is around it the browser would keep another element in its place.
const keep = (what) => {
  held = what;
  if (main) main.style.overflowAnchor = what ? "none" : "";
};
// The page is always so long that it can stay where it is: also below a short answer, and while an answer is drawn anew.
const stay = (scrolled) => {
  place = Math.max(0, Math.round(scrolled));
  height = seenBottom();
  block.style.minHeight = `${place + height}px`;
  if (Math.abs(main.scrollTop - place) >= 1) main.scrollTop = place;
};
const hold = () => {
  const { question, start } = findHeld();
  const room = seenBottom() - seenTop();
  const isFar = question && start && topOf(start) - topOfMessage(question) > FAR * room;
  if (isFar && !held.isMoved && !held.isStart) Object.assign(held, { isStart: true, top: seenTop() + NEAR * room });
  const now = held.isStart ? start && topOf(start) : question && topOfMessage(question);
  if (now !== undefined) stay(main.scrollTop + now - held.top);
};
// The reader has moved the page: what is there now keeps its new place.
const follow = () => {
  const { question, start } = findHeld();
  const isStart = Boolean(start) && topOf(start) < seenBottom();
  keep(question ? refer(question, { isMoved: true, isStart, top: isStart ? topOf(start) : topOfMessage(question) }) : null);
};
const onScroll = () => {
  if (!seen) return;
  if (held && seenBottom() !== height) return hold(); // the browser has: the window or the input has another height
  if (Math.abs(main.scrollTop - place) < 1) return;
  if (held) follow();
  stay(main.scrollTop);
};
const onResize = () => {
  if (bottom && seen) held ? hold() : stay(main.scrollTop);
};
const leave = () => {
  keep(null);
  if (block) block.style.minHeight = "";
  if (main) main.scrollTop = place = 0;
};

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
const isRunning = () => Boolean(document.querySelector("[data-test-script-state=running]"));
const asked = (question) => {
  const address = new URLSearchParams(location.search);
  return `${address.get("c") ?? address.get("s") ?? ""}/${question.dataset.asked ?? ""}`;
};
const goToNote = () => {
  const below = findNotes().at(-1).getBoundingClientRect().bottom + GAP - seenBottom();
  notes = null;
  if (below > 0) main.scrollTop += below;
  onScroll();
};
const look = () => {
  findParts();
  if (path !== location.pathname) {
    path = location.pathname;
    leave();
  }
  const last = main && bottom ? questions().at(-1) : undefined;
  if (!last && seen) leave();
  const now = last ? asked(last) : "";
  // A conversation that goes on in a new session, because its server was away for a while, calls nobody back.
  const isNew = now !== seen && !seen.startsWith(now);
  seen = now;
  // Of a conversation that was opened the last question comes last.
  if (last && (isNew || held?.isOpening)) keep(refer(last, { top: seenTop() + GAP, isOpening: !last.dataset.asked && isRunning() }));
  if (!isNew) onScroll(); // what the reader has done, and the browser has not told yet
  if (last && held) hold();
  if (notes !== null && bottom && findNotes().length > notes) goToNote();
};
new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true, attributeFilter: ["data-test-script-state"] });

// What opens a fold stays where it is: the question above it is held. Older messages come above what is there.
document.addEventListener("click", ({ target }) => {
  if (!seen || !target.closest?.("[data-testid=stMainBlockContainer]")) return;
  const all = questions();
  const above = all.filter((question) => topOfMessage(question) <= topOf(target)).at(-1);
  const question = target.closest(".st-key-older-messages") ? all[0] : above;
  keep(question ? refer(question, { isMoved: true }) : null);
});
const sent = () => {
  if (bottom && find("stChatInputTextArea")?.value.startsWith("/")) notes = findNotes().length;
};
document.addEventListener("keydown", ({ key }) => key === "Enter" && sent(), { capture: true });
document.addEventListener("click", ({ target }) => target.closest?.("[data-testid=stChatInputSubmitButton]") && sent(), { capture: true });

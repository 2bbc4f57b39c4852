// 来源 beside the answer in a wide window: it asks for the sources of one answer, and links its sentences to their passages.
const wide = matchMedia("(min-width: 1280px)");
const REST = 150; // milliseconds for which the pointer rests on a sentence: on its way to the desk it crosses others
const REST_ELSEWHERE = 400; // on another answer than the one on the desk
const said = Object.assign(document.createElement("p"), { className: "wy-sources-said", ariaLive: "polite" });
document.body.append(said);

const deskField = () => document.querySelector(".st-key-desk-wanted input");
const desk = () => document.querySelector(".wy-sources[data-answer]");
const answersShown = () =>
  Array.from(document.querySelectorAll("[data-testid=stChatMessage]:has(.wy-answer)")).filter((one) => !one.querySelector(".wy-question"));
const idOf = (message) => /st-key-sources-([\w-]+)/.exec(message?.querySelector("[class*=st-key-sources-]")?.className ?? "")?.[1] ?? "-";
const messageOf = (id) => answersShown().find((message) => idOf(message) === id);

// What the desk is asked for: nothing in a narrow window, else the last answer unless another one was chosen since it came.
let chosen = "";
let last = "";
const want = (wanted) => {
  const field = deskField();
  if (!field || field.value === wanted) return;
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, wanted);
  field.dispatchEvent(new Event("input", { bubbles: true }));
};
const choose = (id) => {
  chosen = id;
  want(id);
};
const keepAsking = () => {
  if (!deskField() || document.querySelector("[data-test-script-state=running]")) return;
  const newest = idOf(answersShown().at(-1));
  if (newest !== last) chosen = "";
  last = newest;
  want(wide.matches ? chosen || newest : "");
};

// Where the statements stand in the drawn answer: they are known by their letters, whatever stands between them.
const LETTERS = /[\p{L}\p{N}]/u;
const lettersOf = (message) => {
  const letters = [];
  for (const part of message.querySelectorAll(".wy-answer")) {
    const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT, {
      acceptNode: ({ parentElement }) => (parentElement.closest("sup") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT),
    });
    while (texts.nextNode()) {
      const text = texts.currentNode;
      for (let at = 0; at !== text.length; at++) if (LETTERS.test(text.data[at])) letters.push([text, at]);
    }
  }
  return letters;
};
const rangesOf = (message, statements) => {
  const letters = lettersOf(message);
  const all = letters.map(([text, at]) => text.data[at]).join("");
  let after = 0;
  return statements.map(([statement]) => {
    const wanted = Array.from(statement).filter((one) => LETTERS.test(one)).join("");
    let begin = all.indexOf(wanted, after);
    if (begin === -1) begin = all.indexOf(wanted);
    if (begin === -1 || !wanted) return null;
    after = begin + 1;
    const range = document.createRange();
    range.setStart(...letters[begin]);
    const [text, at] = letters[begin + wanted.length - 1];
    range.setEnd(text, at + 1);
    return range;
  });
};

let linked = null;
let links = { message: null, statements: [], ranges: [] };
const link = () => {
  const page = desk();
  const message = page && messageOf(page.dataset.answer);
  const text = message?.querySelector(".wy-answer");
  const isKnown = linked?.page === page && linked?.text === text && text?.isConnected && links.ranges.every((one) => !one?.collapsed);
  if (isKnown) return links;
  linked = { page, text };
  const statements = message ? JSON.parse(page.dataset.statements) : [];
  links = { message, statements, ranges: message ? rangesOf(message, statements) : [] };
  return links;
};

// Statements at a place: of a citation the one before it, else those under the pointer.
const behind = (chip) => {
  const { statements, ranges } = link();
  const number = Number(/\d+/.exec(chip.firstElementChild?.textContent ?? "")?.[0]);
  const those = statements.map((_, place) => place).filter((place) => statements[place][1].includes(number));
  const before = those.filter(
    (place) => ranges[place] && ranges[place].startContainer.compareDocumentPosition(chip) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  return { statements: before.length ? before.slice(-1) : those.filter((place) => !ranges[place]), number };
};
const under = (x, y) => {
  const { ranges } = link();
  const holds = ({ left, right, top, bottom }) => x >= left && right >= x && y >= top && bottom >= y;
  const found = ranges.flatMap((range, place) => (range && Array.from(range.getClientRects()).some(holds) ? [place] : []));
  return { statements: found };
};

const paint = (statements) => {
  const found = link().ranges.filter((range, place) => range && statements.includes(place));
  if (window.Highlight) CSS.highlights.set("wy-lit", new Highlight(...found));
  return found;
};
const show = (passage) => {
  const page = desk().closest(".st-key-desk");
  const [{ top, bottom }, around] = [passage.getBoundingClientRect(), page.getBoundingClientRect()];
  if (top >= around.top + 56 && around.bottom - 16 >= bottom) return;
  page.scrollTop += top - around.top - Math.max(56, (around.height - (bottom - top)) / 3);
};
const light = ({ statements, number }, { scrolls = true } = {}) => {
  const page = desk();
  if (!page) return [];
  const lit = [];
  for (const passage of page.querySelectorAll("[data-s]")) {
    const names = passage.dataset.s.split(" ").filter(Boolean).map(Number);
    const isIts = !number || number === passage.closest("li").value;
    const isLit = isIts && names.some((place) => statements.includes(place));
    passage.classList.toggle("lit", isLit);
    if (isLit) lit.push(passage);
  }
  paint(statements);
  const first = lit.find((passage) => passage.matches("mark")) ?? lit.find((passage) => passage.matches("small")) ?? lit[0];
  if (first && scrolls) show(first);
  return lit;
};
const lightBack = (passage) => light({ statements: passage.dataset.s.split(" ").filter(Boolean).map(Number) }, { scrolls: false });

// The pointer. What was lit stays so while it is over the desk, or wherever there is nothing to point at for a moment.
let rest = 0;
let pending = null; // what was pointed at in an answer that the desk does not show yet
const point = (target, x, y) => {
  if (!target) return null;
  const passage = target.closest(".wy-sources mark, .wy-sources small, .wy-sources h3");
  if (passage) return lightBack(passage);
  if (target.closest(".st-key-desk")) return null;
  const message = target.closest("[data-testid=stChatMessage]:has(.wy-answer)");
  const id = message && idOf(message);
  const chip = target.closest(".wy-answer sup.cite");
  if (id && id !== "-" && id !== desk()?.dataset.answer) return target.closest(".wy-answer") && ask(id, { chip, x, y });
  return light(chip ? behind(chip) : under(x, y));
};
const ask = (id, pointed) => {
  pending = { id, ...pointed };
  choose(id);
};
const takeUp = () => {
  if (!pending || desk()?.dataset.answer !== pending.id) return;
  const { chip, x, y, start } = pending;
  const wanted = pending;
  pending = null;
  if (start !== undefined) return goToPassage(wanted);
  light(chip?.isConnected ? behind(chip) : under(x, y));
};
document.addEventListener(
  "pointermove",
  ({ target, clientX, clientY }) => {
    clearTimeout(rest);
    if (!desk() || !wide.matches) return;
    const message = target.closest?.("[data-testid=stChatMessage]");
    const isElsewhere = message && desk().dataset.answer !== idOf(message);
    // What is drawn anew meanwhile is another element at the same place.
    rest = setTimeout(() => point(document.elementFromPoint(clientX, clientY), clientX, clientY), isElsewhere ? REST_ELSEWHERE : REST);
  },
  { passive: true },
);

// The keyboard: the focus points as the pointer does, at once, and what it lights up is said.
document.addEventListener("focusin", ({ target }) => {
  if (!desk() || !wide.matches || !target.matches?.(":focus-visible")) return;
  const passage = target.closest(".wy-sources mark");
  if (passage) lightBack(passage);
  const chip = target.closest(".wy-answer sup.cite");
  if (!chip) return;
  point(chip, -1, -1);
  const words = Array.from(document.querySelectorAll(".wy-sources :is(mark, small).lit"), (one) => one.textContent).join("…");
  said.textContent = words && `来源原文：${words}`;
});
// A finger does not rest: it points when it touches.
document.addEventListener("pointerdown", ({ pointerType, target, clientX, clientY }) => {
  if (pointerType !== "mouse" && desk() && wide.matches) point(target, clientX, clientY);
});
const goToSentence = (passage) => {
  const [range] = paint(passage.dataset.s.split(" ").filter(Boolean).map(Number));
  range?.startContainer.parentElement.scrollIntoView({ block: "center" });
};
document.addEventListener("keydown", ({ key, target }) => {
  if (key === "Enter" && target.matches?.(".wy-sources mark")) goToSentence(target);
});
document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("[data-desk]");
  if (button) choose(button.dataset.desk);
  const passage = target.closest?.(".wy-sources mark");
  if (passage && getSelection().isCollapsed) goToSentence(passage);
  const line = target.closest?.("[class*=st-key-sources-] summary");
  if (line && deskField() && wide.matches) choose(idOf(line.closest("[data-testid=stChatMessage]")));
});

// A passage that was clicked in the answer: it is shown here instead of in the dialog.
const goToPassage = ({ number, start }) => {
  const row = desk().querySelector(`li[value="${number}"]`);
  const passage = row?.querySelector(`mark[data-at="${start}"]`) ?? row?.querySelector("mark") ?? row?.querySelector("h3");
  if (!passage) return;
  light({ statements: passage.dataset.s.split(" ").filter(Boolean).map(Number), number }, { scrolls: false });
  show(passage);
  passage.focus({ preventScroll: true });
};
document.addEventListener("wy-passage", (event) => {
  const { button, answer } = event.detail;
  if (!wide.matches || !deskField() || button.closest(".st-key-desk, [role=dialog]")) return;
  event.preventDefault();
  const [number, start] = button.dataset.passage.split("/").map(Number);
  pending = { id: answer, number, start };
  choose(answer);
  takeUp();
});

let soon = 0;
const notice = () => {
  if (soon || !deskField()) return;
  soon = setTimeout(() => {
    soon = 0;
    keepAsking();
    takeUp();
  }, 60);
};
new MutationObserver(notice).observe(document.body, { childList: true, subtree: true, attributeFilter: ["data-test-script-state"] });
wide.addEventListener("change", notice);

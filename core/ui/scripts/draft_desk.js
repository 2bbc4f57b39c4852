// 核验文稿: a verdict and its place in the text lead to each other. Under the pointer or the focus both are marked; a click goes there.
const placeOf = (desk, anchor) => desk.querySelector(`[data-verdict="${CSS.escape(anchor)}"]`);
const verdictAt = (node) => node.closest?.(".wy-findings details")?.id;
const placeAt = (node) => node.closest?.(".wy-place")?.hash.slice(1) ?? node.closest?.("[data-verdict]")?.dataset.verdict;
const anchorAt = (node) => verdictAt(node) || placeAt(node);
// Only the text moves in its own box: the page stays where the reader's eyes are.
const show = (place) => {
  const box = place.closest(".wy-draft");
  const [inner, outer] = [place.getBoundingClientRect(), box.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom)
    box.scrollTop += inner.top - outer.top - Math.max(0, (outer.height - inner.height) / 2);
};
const light = (desk, anchor) => {
  for (const lit of desk.querySelectorAll(".lit")) lit.classList.remove("lit");
  placeOf(desk, anchor)?.classList.add("lit");
  desk.querySelector(`#${CSS.escape(anchor)}`)?.classList.add("lit");
};
const pointed = ({ target }) => {
  const desk = target.closest?.(".wy-desk");
  const anchor = desk && anchorAt(target);
  if (!anchor) return;
  light(desk, anchor);
  const place = verdictAt(target) && placeOf(desk, anchor);
  if (place) show(place);
};
document.addEventListener("mouseover", pointed);
document.addEventListener("focusin", pointed);
document.addEventListener("click", (event) => {
  const desk = event.target.closest?.(".wy-desk");
  if (!desk || event.button || event.ctrlKey || event.metaKey) return;
  const back = event.target.closest(".wy-in-text");
  const anchor = back ? verdictAt(back) : placeAt(event.target);
  if (!anchor) return;
  event.preventDefault();
  light(desk, anchor);
  if (back) {
    const mark = desk.querySelector(`#${CSS.escape(anchor)}-at`);
    mark.focus({ preventScroll: true });
    show(mark);
    desk.querySelector(".wy-draft").scrollIntoView({ block: "nearest" });
    return;
  }
  const verdict = desk.querySelector(`#${CSS.escape(anchor)}`);
  verdict.open = true;
  verdict.querySelector("summary").focus({ preventScroll: true });
  verdict.scrollIntoView({ block: "nearest" });
});

// Formulas: MathML that stands in an attribute, because Streamlit takes it out of HTML, is drawn before the next paint.
const drawFormulas = () => {
  for (const place of document.querySelectorAll("[data-math]")) {
    const parsed = new DOMParser().parseFromString(place.dataset.math, "text/html").querySelector("math");
    place.dataset.tex = place.textContent;
    place.removeAttribute("data-math");
    if (parsed) place.replaceChildren(parsed);
  }
};
new MutationObserver(drawFormulas).observe(document.body, { childList: true, subtree: true });
drawFormulas();

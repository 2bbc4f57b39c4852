// A page of a PDF is enlarged in its box, which scrolls then.
document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("[data-zoom]");
  const box = button?.nextElementSibling;
  if (!box) return;
  const isLarge = box.classList.toggle("large");
  button.setAttribute("aria-pressed", isLarge);
  button.textContent = isLarge ? "缩小" : "放大";
});

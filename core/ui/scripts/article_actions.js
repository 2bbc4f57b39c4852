// 复制条文, 复制引用 and 加入核验 of an article; ⋯ of an article in a whole law, which opens the same row there.
const said = Object.assign(document.createElement("div"), { className: "wy-unseen", role: "status" });
document.body.append(said);
const tell = (place, word) => {
  said.textContent = place.dataset.said = word;
  setTimeout(() => delete place.dataset.said, 1600);
};
const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });
const wholeArticle = ({ cite, version, text }) => {
  const title = element("p", "");
  title.append(element("b", cite));
  const lines = text.split("\n").filter((line) => line.trim());
  const html = [title, ...[...lines, version].filter(Boolean).map((line) => element("p", line))];
  return { html: html.map((part) => part.outerHTML).join(""), plain: [cite, ...lines, version].filter(Boolean).join("\n") };
};
const COPIES = {
  text: wholeArticle,
  cite: ({ cite }) => ({ html: element("span", cite).outerHTML, plain: cite }),
};
const put = async ({ html, plain }) => {
  try {
    const types = { "text/html": html, "text/plain": plain };
    const blobs = Object.entries(types).map(([type, text]) => [type, new Blob([text], { type })]);
    await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(blobs))]);
  } catch {
    // Not over https, or not allowed: the old way, still within the click.
    const fill = (event) => {
      event.clipboardData.setData("text/html", html);
      event.clipboardData.setData("text/plain", plain);
      event.preventDefault();
    };
    document.addEventListener("copy", fill, { once: true });
    const done = document.execCommand("copy");
    document.removeEventListener("copy", fill);
    if (!done) throw new Error("not copied");
  }
};
const openRow = (more) => {
  const section = more.closest("section");
  const open = section.querySelector(".wy-acts");
  more.setAttribute("aria-expanded", String(!open));
  if (open) return open.remove();
  const row = section.closest(".wy-text").querySelector(".wy-acts-of-law .wy-acts").cloneNode(true);
  const number = section.querySelector("a").textContent.trim();
  for (const one of [row, ...row.querySelectorAll("a")])
    for (const { name, value } of one.attributes)
      one.setAttribute(name, value.replace("NUMBER", name === "href" ? encodeURIComponent(number) : number));
  const words = Array.from(section.querySelectorAll("p"), (line) => line.textContent);
  row.dataset.text = words.join("\n").replace(number, "").trimStart();
  section.append(row);
  row.querySelector("button").focus({ preventScroll: true });
};
document.addEventListener(
  "click",
  (event) => {
    const more = event.target.closest?.(".wy-more");
    if (more) openRow(more);
    const act = event.target.closest?.("[data-act]");
    const copy = COPIES[act?.dataset.act];
    if (copy)
      put(copy(act.parentElement.dataset)).then(
        () => tell(act, "已复制"),
        () => tell(act, "没有复制成功，请选中文字后复制"),
      );
    if (act?.dataset.act !== "add" || event.button || event.ctrlKey || event.metaKey) return;
    // The page adds the article and stays as it is: the address with it is not one to come back to.
    event.preventDefault();
    history.replaceState({}, "", act.href);
    dispatchEvent(new PopStateEvent("popstate"));
  },
  { capture: true },
);

// 复制 and its kin: an answer goes to the clipboard or on paper; and a word beside whatever was copied.
const { written, html, plain, markdown, picture } = window.wyForms;
const MESSAGE = "[data-testid=stChatMessage]";
const put = async (texts) => {
  try {
    const blobs = Object.entries(texts).map(([type, text]) => [type, new Blob([text], { type })]);
    await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(blobs))]);
  } catch {
    putWithin(texts);
  }
};
// Not over https, or not allowed: the old way, still within the click.
const putWithin = (texts) => {
  const field = Object.assign(document.createElement("textarea"), { value: texts["text/plain"] });
  const fill = (event) => {
    for (const [type, text] of Object.entries(texts)) event.clipboardData.setData(type, text);
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.body.append(field);
  field.select();
  addEventListener("copy", fill, { capture: true });
  const done = document.execCommand("copy");
  removeEventListener("copy", fill, { capture: true });
  field.remove();
  if (!done) throw new Error("not copied");
};
const text = (message, form, between) => `${written(message, form).join(between)}\n`;
const COPIES = {
  markdown: (message) => put({ "text/plain": text(message, markdown, "\n\n") }),
  document: (message) => put({ "text/html": text(message, html, "\n"), "text/plain": text(message, plain, "\n\n") }),
  picture: (message) => navigator.clipboard.write([new ClipboardItem({ "image/png": picture(message) })]),
};
const savePicture = async (message) => {
  const address = URL.createObjectURL(await picture(message));
  Object.assign(document.createElement("a"), { href: address, download: "问源-回答.png" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
};
const status = Object.assign(document.createElement("div"), { className: "wy-status", role: "status" });
document.body.append(status);
const say = (place, word) => {
  place.dataset.said = status.textContent = word;
  setTimeout(() => {
    delete place.dataset.said;
    status.textContent = "";
  }, 1600);
};
const REFUSED = { document: "没有复制成功，请选中文字后复制", markdown: "没有复制成功，请选中文字后复制", picture: "没有复制成功，请用「保存图片」" };
// Behind ⋯ of the last answer the entries stand elsewhere in the page.
const answerOf = (button) => button.closest(MESSAGE) ?? Array.from(document.querySelectorAll(MESSAGE)).at(-1);
const act = async (button, kind) => {
  if (kind === "print") return print();
  try {
    await (COPIES[kind] ?? savePicture)(answerOf(button));
    say(button, kind in COPIES ? "已复制" : "已开始下载");
  } catch {
    say(button, REFUSED[kind] ?? "没有画成图片，请改用「复制」");
  }
};
// While the event is on its way down: on its way up Streamlit has put another icon in the place of the one that was clicked.
const clicked = (event) => {
  const button = event.target.closest?.(".wy-copy, [data-copy]");
  const code = event.target.closest?.("[data-testid=stCode] button")?.closest("[data-testid=stCode]");
  if (code) say(code, "已复制");
  if (button) act(button, button.dataset.copy ?? "document");
};
document.addEventListener("click", clicked, { capture: true });

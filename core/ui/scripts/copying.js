// 复制: an answer as it is drawn becomes Markdown again, with its references; and a word beside whatever was copied.
const children = (node) => Array.from(node.childNodes, markdown).join("");
const items = (list) =>
  Array.from(list.children, (item, place) => {
    const mark = list.tagName === "OL" ? `${(list.start || 1) + place}. ` : "- ";
    return mark + blocks(item).replace(/\n/g, `\n${" ".repeat(mark.length)}`);
  }).join("\n");
const row = (cells) => `| ${Array.from(cells, (cell) => children(cell).trim().replace(/\n/g, "\x3cbr>")).join(" | ")} |`;
const table = (whole) => {
  const rows = Array.from(whole.rows, (one) => row(one.cells));
  rows.splice(1, 0, `|${" --- |".repeat(whole.rows[0]?.cells.length ?? 0)}`);
  return rows.join("\n");
};
const quoted = (text) => text.replace(/^/gm, "> ");
const fenced = (code) => {
  const language = /language-([\w+#.-]+)/.exec(code.querySelector("code")?.className ?? "")?.[1] ?? "";
  const text = (code.querySelector("code") ?? code).textContent.replace(/\n$/, "");
  const fence = "`".repeat(Math.max(3, ...Array.from(text.matchAll(/`+/g), (run) => run[0].length + 1)));
  return `${fence}${language}\n${text}\n${fence}`;
};
const reference = (item) => {
  const part = (kind) => item.querySelector(kind)?.textContent.trim() ?? "";
  const link = item.querySelector("a:not(.back)");
  const title = (link ?? item.querySelector("span"))?.textContent ?? "";
  const known = [part(".about") && `（${part(".about")}）`, part(".summary") && `：${part(".summary")}`].join("");
  return `- \\[${item.value}\\] ${link ? `[${title}](${link.href})` : title}${part(".domain") && ` — ${part(".domain")}`}${known}`;
};
const WRITTEN = {
  BR: () => "\n",
  HR: () => "---",
  STRONG: (node) => `**${children(node)}**`,
  EM: (node) => `*${children(node)}*`,
  DEL: (node) => `~~${children(node)}~~`,
  CODE: (node) => `\`${node.textContent}\``,
  PRE: fenced,
  UL: items,
  OL: items,
  TABLE: table,
  BLOCKQUOTE: (node) => quoted(blocks(node)),
};
function markdown(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.data;
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches(".wy-uncited, .cite.agreeing")) return "";
  if (node.dataset.tex) return node.dataset.tex;
  if (node.matches(".cite")) return `[${node.firstElementChild?.textContent ?? ""}]`;
  if (/^H[1-6]$/.test(node.tagName)) return `${"#".repeat(Number(node.tagName[1]) - 2)} ${children(node)}`;
  return (WRITTEN[node.tagName] ?? children)(node);
}
const BLOCK = /^(P|UL|OL|TABLE|BLOCKQUOTE|PRE|HR|H[1-6])$/;
function blocks(node) {
  let text = "";
  for (const child of node.childNodes) {
    const apart = text && (BLOCK.test(child.tagName ?? "") || text.endsWith("\0"));
    text += (apart ? "\n".repeat(node.tagName === "LI" ? 1 : 2) : "") + markdown(child) + (BLOCK.test(child.tagName ?? "") ? "\0" : "");
  }
  return text.replaceAll("\0", "").trim();
}
const answered = (message) => {
  const parts = [];
  for (const part of message.querySelectorAll(".wy-answer, [data-testid=stCode], .katex-display annotation, ol.wy-refs")) {
    if (part.closest("[data-testid=stExpander]") || part.parentElement.closest(".wy-answer")) continue;
    if (part.matches(".wy-answer")) parts.push(blocks(part));
    else if (part.matches(".wy-refs")) parts.push(`**${part.previousElementSibling?.textContent ?? "参考文献"}**`, Array.from(part.children, reference).join("\n"));
    else if (part.matches("annotation")) parts.push(`$$\n${part.textContent.trim()}\n$$`);
    else parts.push(fenced(part));
  }
  return `${parts.filter(Boolean).join("\n\n")}\n`;
};
const put = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Not over https, or not allowed: the old way, still within the click.
    const field = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    if (!done) throw new Error("not copied");
  }
};
const say = (place, word) => {
  place.dataset.said = word;
  setTimeout(() => delete place.dataset.said, 1600);
};
// While the event is on its way down: on its way up Streamlit has put another icon in the place of the one that was clicked.
const clicked = (event) => {
  const button = event.target.closest?.(".wy-copy");
  const code = event.target.closest?.("[data-testid=stCode] button")?.closest("[data-testid=stCode]");
  if (code) say(code, "已复制");
  if (button)
    put(answered(button.closest("[data-testid=stChatMessage]"))).then(
      () => say(button, "已复制"),
      () => say(button, "没有复制成功，请选中文字后复制"),
    );
};
document.addEventListener("click", clicked, { capture: true });

// An answer as it is drawn, written again in another form. A form has a function for each kind of part; what a part holds comes to it
// written already. 无出处 and the marks of ✓ and 未核 are left out, what is wrong stays beside its sentence.
const BLOCK = /^(P|UL|OL|TABLE|BLOCKQUOTE|PRE|HR|H[1-6])$/;
const LEFT_OUT = ".cite.agreeing, .wy-card, script, style";
const inside = (node, form) => Array.from(node.childNodes, (child) => write(child, form)).join("");
const blocks = (node, form) => {
  const parts = [""];
  for (const child of node.childNodes) {
    if (BLOCK.test(child.tagName ?? "")) parts.push(write(child, form), "");
    else parts[parts.length - 1] += write(child, form);
  }
  const apart = node.tagName === "LI" ? form.betweenLines : form.betweenBlocks;
  return parts.map((part) => part.replace(/^ *\n+|\s+$/g, "")).filter(Boolean).join(apart);
};
const write = (node, form) => {
  if (node.nodeType === Node.TEXT_NODE) return form.text(node.data === "\u202f" ? "" : node.data);
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches(LEFT_OUT)) return "";
  if (node.dataset.tex) return form.formula(node.dataset.tex);
  if (node.matches(".cite")) return cited(node, form);
  if (node.matches(".wy-remark")) return form.remark(bracketed(node.textContent));
  if (node.matches(".wy-uncited")) return node.matches(".red, .orange") ? form.remark(bracketed(node.title)) : "";
  if (/^[UO]L$/.test(node.tagName)) return form.list(Array.from(node.children, (item) => blocks(item, form)), node);
  if (node.tagName === "BLOCKQUOTE") return form.BLOCKQUOTE(blocks(node, form));
  if (/^H[1-6]$/.test(node.tagName)) return form.heading(inside(node, form), Number(node.tagName[1]));
  if (node.tagName === "PRE") return code(node, form);
  if (node.tagName === "CODE") return form.CODE(node.textContent);
  if (node.tagName === "TABLE") return table(node, form);
  return (form[node.tagName] ?? ((text) => text))(inside(node, form), node);
};
const bracketed = (words) => `〔${words.trim().replace(/^〔|[。〕]+$/g, "")}〕`;
const cited = (chip, form) => {
  const number = chip.firstElementChild?.textContent ?? "";
  const mark = chip.querySelector(":scope > i")?.textContent ?? "";
  const note = mark.includes("✗") ? form.remark(correction(chip)) : "";
  return form.citation(number, { mark, isNamed: Boolean(chip.closest(".wy-named")) }) + note;
};
// In the words of the card: 〔不符 [2]：回答说「600」，来源说「800」〕.
const correction = (chip) => {
  const said = (chip.querySelector(".wy-verdict")?.textContent ?? "").replace(/^[^\p{L}]+/u, "").replace(/。$/, "");
  const found = chip.querySelector("ins")?.textContent.trim() ?? "";
  return bracketed(found && !said.includes(found) ? `${said}，原文为「${found}」` : said);
};
const code = (block, form) => {
  const inner = block.querySelector("code") ?? block;
  const language = /language-([\w+#.-]+)/.exec(inner.className)?.[1] ?? "";
  return form.code(inner.textContent.replace(/\n$/, ""), language);
};
const table = (whole, form) =>
  form.table(
    Array.from(whole.rows, (row) =>
      Array.from(row.cells, (cell) => ({
        text: inside(cell, form).trim(),
        isHead: cell.tagName === "TH",
        side: ["right", "center"].find((side) => cell.classList.contains(side)),
      })),
    ),
  );
const reference = (item) => {
  const part = (kind) => item.querySelector(kind)?.textContent.trim() ?? "";
  const link = item.querySelector("a:not(.back)");
  return {
    number: item.value,
    title: (link ?? item.querySelector("span"))?.textContent.trim() ?? "",
    address: link && /^https?:$/.test(link.protocol) ? link.href : "",
    site: part(".domain"),
    place: part(".place"),
    day: /^\d{4}-\d\d-\d\d/.exec(part(".about"))?.[0] ?? "",
    about: part(".about"),
    summary: part(".summary"),
  };
};
const PARTS = ".wy-answer, [data-testid=stCode], .katex-display annotation, ol.wy-refs:not(.whole), .wy-remark";
const isApart = (part) =>
  part.closest("[data-testid=stExpander]") ||
  part.parentElement.closest(".wy-answer") ||
  (part.matches("[data-testid=stCode]") && part.closest("[data-testid=stVerticalBlock]")?.querySelector("[data-testid=stAlert]"));
const part = (drawn, form) => {
  if (drawn.matches(".wy-answer")) return blocks(drawn, form);
  if (drawn.matches(".wy-refs"))
    return form.references(drawn.previousElementSibling?.textContent ?? "参考文献", Array.from(drawn.children, reference));
  if (drawn.matches("annotation")) return form.P(form.formula(`$$\n${drawn.textContent.trim()}\n$$`));
  return drawn.matches(".wy-remark") ? write(drawn, form) : code(drawn, form);
};
// The parts of an answer, in their order.
const written = (message, form) =>
  Array.from(message.querySelectorAll(PARTS))
    .filter((drawn) => !isApart(drawn))
    .map((drawn) => part(drawn, form))
    .filter(Boolean);
window.wyForms = { written };

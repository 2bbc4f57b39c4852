// An answer for documents, mails and chats: HTML of plain tags, and text without any signs. Styles stand at the tags only where Word, WPS,
// WeChat and Outlook would otherwise draw nothing.
const escaped = (text) => text.replace(/[&\x3c>"]/g, (sign) => ({ "&": "&amp;", "\x3c": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
const tag = (name, text, attributes = "") => `\x3c${name}${attributes}>${text}\x3c/${name}>`;
const link = (address, text) => (address ? tag("a", text, ` href="${escaped(address)}"`) : text);
const CELL = "border:1px solid #999;padding:4px 8px";
const CODE = ' style="font-family:Consolas,Menlo,monospace"';
Object.assign(window.wyForms, { escaped, tag });
const cell = (one) => tag(one.isHead ? "th" : "td", one.text || "&nbsp;", ` style="${CELL};text-align:${one.side ?? "left"}"`);
const same = (name) => (text) => tag(name, text);
window.wyForms.html = {
  betweenBlocks: "\n",
  betweenLines: "",
  text: escaped,
  formula: escaped,
  citation: (number, { isNamed }) => (isNamed ? `[${escaped(number)}]` : tag("sup", `[${escaped(number)}]`)),
  remark: (words) => tag("span", escaped(words), ' style="color:#a8323f"'),
  heading: (text, level) => tag(`h${level}`, text),
  list: (items, list) => tag(list.tagName.toLowerCase(), items.map(same("li")).join(""), list.start > 1 ? ` start="${list.start}"` : ""),
  table: (rows) => tag("table", rows.map((cells) => tag("tr", cells.map(cell).join(""))).join(""), ' border="1" cellspacing="0" width="100%" style="border-collapse:collapse"'),
  code: (text) => tag("pre", tag("code", escaped(text), CODE), ' style="padding:8px;background:#f4f4f4;white-space:pre-wrap"'),
  // Not a list of theirs: they would count 1, 2, 3 where the text cites 1, 4, 7.
  references: (name, sources) => {
    const line = (one) => {
      const facts = [escaped(one.title), escaped(one.site), escaped(one.place), one.day, link(one.address, escaped(one.address))];
      return tag("p", `[${one.number}] ${facts.filter(Boolean).join(" · ")}`);
    };
    return [tag("h4", escaped(name)), ...sources.map(line)].join("\n");
  },
  A: (text, node) => link(/^https?:$/.test(node.protocol) ? node.href : "", text),
  P: same("p"),
  BR: () => "\x3cbr>",
  HR: () => "\x3chr>",
  STRONG: same("strong"),
  EM: same("em"),
  DEL: same("del"),
  CODE: (text) => tag("code", escaped(text), CODE),
  BLOCKQUOTE: (text) => tag("blockquote", text, ' style="margin-left:0;padding-left:12px;border-left:3px solid #bbb"'),
};
const indented = (mark, text) => mark + text.replace(/\n/g, `\n${" ".repeat(mark.length)}`);
const asItIs = (text) => text;
window.wyForms.plain = {
  betweenBlocks: "\n\n",
  betweenLines: "\n",
  text: asItIs,
  formula: asItIs,
  citation: (number) => `[${number}]`,
  remark: asItIs,
  heading: asItIs,
  list: (items, list) => items.map((item, place) => indented(list.tagName === "OL" ? `${(list.start || 1) + place}. ` : "· ", item)).join("\n"),
  table: (rows) => rows.map((cells) => cells.map((one) => one.text.replace(/\s+/g, " ")).join("\t")).join("\n"),
  code: asItIs,
  references: (name, sources) => {
    const line = (one) => `[${one.number}] ${[one.title, one.site, one.place, one.day, one.address].filter(Boolean).join(" · ")}`;
    return [name, ...sources.map(line)].join("\n");
  },
  P: asItIs,
  BR: () => "\n",
  HR: () => "",
  CODE: asItIs,
  BLOCKQUOTE: asItIs,
};

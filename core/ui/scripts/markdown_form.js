// An answer as Markdown. What was drawn as text stays text: neither a tag nor a link.
const quoted = (text) => text.replace(/^/gm, "> ");
const indented = (mark, text) => mark + text.replace(/\n/g, `\n${" ".repeat(mark.length)}`);
const row = (cells) => `| ${cells.map((cell) => cell.text.replace(/\n/g, "\x3cbr>")).join(" | ")} |`;
const inert = (text) => text.replace(/\x3c(?=[a-z/!?])/gi, "\\$&").replace(/\](?=[([])/g, "\\]");
const bracket = (text) => text && `（${inert(text)}）`;
const title = (text) => inert(text).replace(/(?!\\)[[\]]/g, "\\$&");
const known = ({ place, about, summary }) => bracket([place, about].filter(Boolean).join(" · ")) + (summary && `：${inert(summary)}`);
window.wyForms.markdown = {
  betweenBlocks: "\n\n",
  betweenLines: "\n",
  text: inert,
  formula: (tex) => tex,
  citation: (number) => `[${number}]`,
  remark: inert,
  heading: (text, level) => `${"#".repeat(level - 2)} ${text}`,
  list: (items, list) => items.map((item, place) => indented(list.tagName === "OL" ? `${(list.start || 1) + place}. ` : "- ", item)).join("\n"),
  table: ([head, ...rows]) => [row(head), `|${" --- |".repeat(head.length)}`, ...rows.map(row)].join("\n"),
  code: (text, language) => {
    const fence = "`".repeat(Math.max(3, ...Array.from(text.matchAll(/`+/g), (run) => run[0].length + 1)));
    return `${fence}${language}\n${text}\n${fence}`;
  },
  references: (name, sources) => {
    const line = (one) =>
      `- \\[${one.number}\\] ${one.address ? `[${title(one.title)}](${one.address.replace(/[()]/g, encodeURIComponent)})` : title(one.title)}` +
      (one.site && ` — ${one.site}`) + known(one);
    return `**${name}**\n\n${sources.map(line).join("\n")}`;
  },
  P: (text) => text,
  BR: () => "\n",
  HR: () => "---",
  STRONG: (text) => `**${text}**`,
  EM: (text) => `*${text}*`,
  DEL: (text) => `~~${text}~~`,
  CODE: (text) => `\`${text}\``,
  BLOCKQUOTE: quoted,
};

// An answer as a picture: a card with question, answer, sources and verdicts, drawn by the browser from an SVG that holds it.
const { written, html, tag, escaped } = window.wyForms;
const WIDTH = 720;
const SCALE = 2;
const MOST = 12_000 / SCALE;
const CUT = "……以下放不下了，全文见问源中的这个回答。";
const form = {
  ...html,
  citation: (number, { mark, isNamed }) => {
    const kind = mark.includes("✗") ? "bad" : mark === "✓" ? "good" : "open";
    return tag(isNamed ? "span" : "sup", escaped(`[${number}${mark && ` ${mark}`}]`), ` class="${kind}"`);
  },
  remark: (words) => tag("span", escaped(words), ' class="bad"'),
  references: (name, sources) => {
    const line = (one) => tag("p", [`[${one.number}] ${escaped(one.title)}`, escaped(one.site), one.day].filter(Boolean).join(" · "));
    return tag("section", tag("h4", escaped(name)) + sources.map(line).join(""));
  },
};
const STYLE = `
  * { box-sizing: border-box; margin: 0; }
  article { width: ${WIDTH}px; padding: 40px; font-size: 19px; line-height: 1.75; overflow-wrap: break-word; text-autospace: normal; }
  header { margin-bottom: 20px; padding-bottom: 16px; border-bottom: 2px solid #2f6f6a; font-size: 23px; font-weight: 600; line-height: 1.45; white-space: pre-wrap; }
  main > * + *, blockquote > * + * { margin-top: .6em; } li + li, li > :is(p, ul, ol, pre, table) { margin-top: .25em; }
  :is(h3, h4, h5, h6) { font-size: 20px; line-height: 1.45; }
  main > * + :is(h3, h4, h5, h6) { margin-top: 1em; }
  :is(ul, ol) { padding-left: 1.5em; }
  table { width: 100%; border-collapse: collapse; font-size: 16px; line-height: 1.5; }
  pre { font-size: 15px; line-height: 1.5; overflow-wrap: anywhere; }
  pre { background: rgba(128, 128, 128, .12) !important; }
  a { color: inherit; text-decoration: none; }
  sup { font-size: 13px; line-height: 0; white-space: nowrap; }
  sup::before { content: '\\2060'; }
  .good { color: light-dark(#2b6b2f, #8fd195); } .bad, sup.bad { color: light-dark(#a8323f, #f0929b); } .open { opacity: .7; }
  section, footer { margin-top: 20px; padding-top: 14px; border-top: 1px solid rgba(128, 128, 128, .35); font-size: 15px; line-height: 1.6; }
  section h4 { font-size: 15px; } section > p + p { margin-top: .2em; }
  .check { margin-top: 16px; font-size: 15px; } footer { opacity: .7; }
`;
// The totals as the page has them below the answer: 核验：1 处不符 · 3 处有据 · 1 句无出处
const WRONG = /不符|不一致|查无|不存在|非现行/;
const verdicts = (message) => {
  const folds = Array.from(message.querySelectorAll("[data-testid=stExpander] summary p"), (one) => one.textContent.trim());
  const totals = folds.map((words) => /核验 · (.+)/.exec(words)?.[1]).find(Boolean);
  const marked = (totals ?? "").split(/( · |：)/).map((part) => (WRONG.test(part) ? tag("b", escaped(part), ' class="bad"') : escaped(part)));
  return totals ? tag("p", `核验：${marked.join("")}`, ' class="check"') : "";
};
const question = (message) => {
  const before = Array.from(document.querySelectorAll("[data-testid=stChatMessage]"));
  const asked = before.slice(0, before.indexOf(message)).findLast((one) => one.querySelector(".wy-question"));
  const words = asked?.querySelector(".wy-question").textContent.trim() ?? "";
  return words.length > 160 ? `${words.slice(0, 160)}…` : words;
};
const card = (message) => {
  const parts = written(message, form);
  const lists = parts.filter((part) => part.startsWith(tag("section", "").slice(0, 9)));
  const text = parts.filter((part) => !lists.includes(part));
  const day = new Date().toLocaleDateString("sv");
  const asked = question(message);
  const head = asked && tag("header", escaped(asked));
  return head + tag("main", text.join("")) + lists.join("") + verdicts(message) + tag("footer", `问源 · ${day}`);
};
// What would stand below the lowest place that a picture has is left out, and the card says so.
const cut = (article) => {
  const main = article.querySelector("main");
  const room = MOST - (article.offsetHeight - main.offsetHeight) - 60;
  const top = main.getBoundingClientRect().top;
  const over = Array.from(main.children).filter((child) => child.getBoundingClientRect().bottom - top > room);
  if (article.offsetHeight <= MOST) return;
  over.forEach((child) => child.remove());
  main.append(Object.assign(document.createElement("p"), { className: "open", textContent: CUT }));
};
// In a shadow tree, so that the page's own styles stay outside; laid out once to know its height.
const drawn = (message) => {
  const app = getComputedStyle(document.querySelector("[data-testid=stApp]"));
  const place = document.createElement("div");
  const article = document.createElement("article");
  const style = Object.assign(document.createElement("style"), { textContent: STYLE });
  place.style.cssText = "position:fixed;left:-9999px;top:0";
  article.style.cssText = `color-scheme:${app.colorScheme};background:${app.backgroundColor};color:${app.color};font-family:${app.fontFamily}`;
  article.innerHTML = card(message);
  place.attachShadow({ mode: "open" }).append(style, article);
  document.body.append(place);
  cut(article);
  const height = Math.min(Math.ceil(article.offsetHeight), MOST);
  article.prepend(style);
  const xml = new XMLSerializer().serializeToString(article).replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "");
  place.remove();
  return { xml, height };
};
window.wyForms.picture = async (message) => {
  const { xml, height } = drawn(message);
  const size = `width="${WIDTH * SCALE}" height="${height * SCALE}" viewBox="0 0 ${WIDTH} ${height}"`;
  const inner = tag("foreignObject", xml, ` width="${WIDTH}" height="${height}"`);
  const image = new Image();
  // A data address: an SVG from a blob address makes Chromium's canvas unreadable.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(tag("svg", inner, ` xmlns="http://www.w3.org/2000/svg" ${size}`))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: WIDTH * SCALE, height: height * SCALE });
  canvas.getContext("2d").drawImage(image, 0, 0);
  return new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture"))), "image/png"));
};

// Lines to paste into a file: 复制 puts them on the clipboard, as they are.
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.(".wy-paste-copy");
  if (!button) return;
  const lines = button.parentElement.querySelector("pre");
  let done = true;
  try {
    await navigator.clipboard.writeText(lines.textContent);
  } catch {
    // Not over https, or not allowed: the old way, which leaves the lines selected.
    getSelection().selectAllChildren(lines);
    done = document.execCommand("copy");
  }
  button.textContent = done ? "已复制" : "请按 Ctrl+C";
  setTimeout(() => (button.textContent = "复制"), 1600);
});

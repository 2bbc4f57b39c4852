// On a phone the sidebar covers what was chosen in it: it closes after a choice.
document.addEventListener("click", (event) => {
  if (innerWidth < 768 && event.target.closest(".st-key-new-conversation, [class*=st-key-open-]"))
    document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
});

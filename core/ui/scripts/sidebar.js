// On a phone the sidebar covers what was chosen in it: it closes after a choice that leads somewhere.
const LEADS = "[data-testid=stSidebarNavLink], [data-testid=stPageLink], [data-testid=stLogoLink], .st-key-new-conversation, [class*=st-key-open-]";
document.addEventListener("click", ({ target }) => {
  if (innerWidth < 768 && target.closest?.("[data-testid=stSidebar]") && target.closest(LEADS))
    document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
});

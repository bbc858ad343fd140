// Names and roles that assistive technology needs and the theme leaves out. The theme makes some of the elements when
// they come into view.
function complete() {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  // Parts of the navigation, and the buttons of a listing, are no landmarks.
  for (const each of document.querySelectorAll(".md-nav .md-nav, .md-code__nav")) {
    if (each.getAttribute("role") === "none") continue;
    each.setAttribute("role", "none");
    for (const name of ["aria-label", "aria-labelledby", "aria-expanded"]) each.removeAttribute(name);
  }
  for (const each of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (each.scrollWidth <= each.clientWidth || each.tabIndex === 0) continue;
    each.tabIndex = 0;
    each.setAttribute("role", "group");
    each.setAttribute("aria-label", "Table that scrolls");
  }
}
complete();
new MutationObserver(complete).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", complete);

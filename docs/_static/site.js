// What the generators of pages leave out for readers who use a keyboard or hear the page.
window.addEventListener("load", () => {
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a")) {
    const title = link.closest(".sphx-glr-thumbcontainer").querySelector(".sphx-glr-thumbnail-title");
    if (title) link.setAttribute("aria-label", title.textContent); // thumbnails are links without text
  }
  for (const entry of document.querySelectorAll("[role='doc-biblioentry'], [role='list']")) {
    entry.removeAttribute("role"); // entries of the bibliography have a role that is no longer one
  }
  for (const part of document.querySelectorAll(".cell_output *, .equation")) {
    if (part.scrollWidth > part.clientWidth && getComputedStyle(part).overflowX === "auto") part.tabIndex = 0;
  }
});

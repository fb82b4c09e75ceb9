// Thumbnails of the gallery are links without text: they get the title below them as their name.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a")) {
    const title = link.closest(".sphx-glr-thumbcontainer").querySelector(".sphx-glr-thumbnail-title");
    if (title) link.setAttribute("aria-label", title.textContent);
  }
});

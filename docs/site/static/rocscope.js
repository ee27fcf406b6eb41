// Names for what the theme leaves without one, so that it can be heard as well as seen; and where code in a cell may
// break: after a sign, never within a word.
document.addEventListener("DOMContentLoaded", () => {
  for (const each of document.querySelectorAll(".search-button-field")) each.removeAttribute("aria-label");
  for (const each of document.querySelectorAll("details > summary:has(.toctree-toggle)"))
    each.setAttribute("aria-label", "Pages inside");
  for (const each of document.querySelectorAll(".sphx-glr-thumbcontainer a"))
    each.setAttribute("aria-label", each.textContent.trim());
  for (const each of document.querySelectorAll("td code .pre"))
    each.replaceChildren(...each.textContent.split(/(?<=[.(=,/])/).flatMap((part) => [part, document.createElement("wbr")]));
});

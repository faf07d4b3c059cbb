// Remembers the language that a reader has chosen, for the root page, and stays in the section:
// its id is the same in both languages.
addEventListener("click", event => {
  const link = event.target.closest("a[hreflang]")
  if (!link) return
  __md_set("__language", link.hreflang)
  link.hash = location.hash
})

// Material takes alternate pages for the roots of other sites and looks for a sitemap beside each,
// which ends in a 404. So they are hidden from it while it starts.
const alternates = document.querySelectorAll("link[rel=alternate]")
for (const link of alternates) link.rel = ""
addEventListener("load", () => {
  for (const link of alternates) link.rel = "alternate"
})

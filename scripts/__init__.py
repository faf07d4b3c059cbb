"""Everything that makes and checks the site; nothing in it is shown on a page."""

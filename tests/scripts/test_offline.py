from __future__ import annotations

import pytest

from scripts.offline import without_outside_scripts

OWN = '<script src="../assets/a.js"></script><script>const x = "https://example.org/"</script>'


@pytest.mark.parametrize(
    "script",
    [
        '<script src="https://cdn.example.org/mathjax.js"> </script>',
        "<script src='//cdn.example.org/mathjax.js'></script>",
        '<script type="text/x-mathjax-config">\ninit_mathjax()\n</script>',
        '<script type="module">\nlet m = (await import("https://cdn.example.org/m.mjs")).default\n</script>',
        '<script type="module">import m from "https://cdn.example.org/m.mjs"</script>',
    ],
)
def test_outside_scripts_are_taken_out(script: str) -> None:
    assert without_outside_scripts(f"<p>{OWN}{script}</p>{OWN}") == f"<p>{OWN}</p>{OWN}"

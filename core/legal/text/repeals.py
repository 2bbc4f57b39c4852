"""Laws that a closing article repeals."""

from __future__ import annotations

import re

from core.legal.text.law_names import law_key

# 《…》第三条同时废止 and 《…》中的… repeal only a part of a law.
_WHOLE_LAW = re.compile(r"《([^《》]{2,60})》(?!\s*[第中的有])")


def repealed_laws(text: str) -> list[str]:
    """Return the keys of the laws that a closing article repeals: 《…》、《…》同时废止."""
    if not re.search(r"同时废止|即行废止|予以废止", text):
        return []
    sentences = [sentence for sentence in re.split("[。；]", text) if "废止" in sentence]
    return [law_key(name) for sentence in sentences for name in _WHOLE_LAW.findall(sentence)]

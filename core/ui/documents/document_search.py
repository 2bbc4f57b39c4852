"""Search in collections, without a model: passages with their file, their place and the words that were found."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from core.app import App
from core.base.errors import AppError
from core.documents import Collection, PassageHit
from core.ui import document_access
from core.ui.documents import addresses
from core.ui.documents.collection_facts import OUTDATED, day_of
from core.ui.documents.found_words import best_part, mark_words, query_words
from core.ui.escape import draw_html, escape_label
from core.ui.frame import draw_warning

BOX = "documents_query"
MAX_HITS, MAX_WORDS = 20, 300
POLL_SECONDS = 2.0


def draw(app: App, collections: Sequence[Collection], words: str) -> bool:
    """Draw the box and what was found for the words of the address. Return whether there were words."""
    if st.session_state.get(f"{BOX}-seen") != words or BOX not in st.session_state:
        st.session_state[BOX] = st.session_state[f"{BOX}-seen"] = words
    st.text_input(
        "查找原文",
        key=BOX,
        type="search",
        placeholder="查找原文，例如：违约金",
        icon=":material/search:",
        max_chars=MAX_WORDS,
        label_visibility="collapsed",
        on_change=_search,
    )
    if not words.strip():
        return False
    unfinished = any(collection.unfinished for collection in collections)
    st.fragment(_draw_found, run_every=POLL_SECONDS if unfinished else None)(app, collections, words)
    st.button("回到列表", icon=":material/arrow_back:", type="tertiary", on_click=_clear)
    return True


def _draw_found(app: App, collections: Sequence[Collection], words: str) -> None:
    """Search, again and again while files are being read."""
    access = document_access.access()
    try:
        ids = [collection.id for collection in collections]
        hits = app.documents.search(words, access, collections=ids, limit=MAX_HITS)
        unfinished = [one for one in app.documents.list_collections(access) if one.id in ids and one.unfinished]
    except AppError as error:
        draw_warning(str(error))
        return
    _draw_hits(hits, words, names=len(collections) > 1)
    if unfinished:
        count = sum(collection.unfinished for collection in unfinished)
        st.caption(f"还有 {count:,} 个文件没有读完，读到的部分会自己出现在这里。")
    elif any(collection.unfinished for collection in collections):
        st.rerun()


def _search() -> None:
    words = st.session_state[BOX].strip()
    if words:
        st.query_params[addresses.WORDS] = words
    else:
        st.query_params.pop(addresses.WORDS, None)


def _draw_hits(hits: Sequence[PassageHit], words: str, *, names: bool) -> None:
    if not hits:
        st.info(escape_label(f"没有找到「{words}」。可以换一个说法，或者少用几个字。"), icon=":material/search_off:")
    else:
        st.caption(f"找到 {len(hits)} 处。" if len(hits) < MAX_HITS else f"最相关的 {len(hits)} 处。")
        wanted = query_words(words)
        rows = Markup().join(_hit_html(hit, words, wanted, has_collection=names) for hit in hits)
        draw_html(Markup('<ol class="wy-files-list wy-passages">%s</ol>') % rows)


def _clear() -> None:
    st.session_state[BOX] = ""
    st.query_params.pop(addresses.WORDS, None)


def _hit_html(hit: PassageHit, query: str, words: list[str], *, has_collection: bool) -> Markup:
    document = hit.document
    link = Markup('<a class="wy-go" href="%s">%s</a>') % (
        addresses.link(addresses.hit_query(hit, query)),
        document.name,
    )
    place = _place_html(hit)
    outdated = Markup(' <span class="wy-tag orange">%s</span>') % OUTDATED if document.is_outdated else Markup()
    facts = [*([hit.collection_name] if has_collection else []), day_of(document)]
    about = Markup('<span class="wy-dim">%s</span>') % " · ".join(facts)
    passage = Markup("<p>%s</p>") % mark_words(best_part(hit.text, words), words)
    return Markup("<li>%s%s%s%s%s</li>") % (link, place, outdated, about, passage)


def _place_html(hit: PassageHit) -> Markup:
    if hit.place is None:
        return Markup()
    words = f"{hit.place.label}（识别）" if hit.place.is_recognized else hit.place.label
    return Markup(' <b class="wy-place-name">%s</b>') % words

"""Parts of a packed file (.docx, .pptx, .xlsx, .epub). This runs only in a worker: the file is untrusted.

Parts are read into memory by their names, which are never used as paths. XML is parsed without document types, entities
and network.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from lxml import etree
from lxml.etree import _Element as Element

from core.reading.extraction_types import NotReadable

ZIP = b"PK\x03\x04"
MAX_PARTS = 5_000
MAX_UNPACKED = 200_000_000
"""Limit for the declared bytes of all parts together, most of them pictures."""
MAX_READ = 100_000_000
"""Limit for the bytes of all parts that are read."""
MAX_PART = 40_000_000
"""Limit for the bytes of one part that is read: a text of several books."""
MAX_RATIO, FREE_OF_RATIO = 400, 2_000_000
"""How many times smaller a part may be packed, if it has more bytes than that."""
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_ENCRYPTED = 1
_PARSER_OPTIONS = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}


class PackedFile:
    """A packed file whose parts are read within limits. Raise NotReadable if it is broken, locked or too large."""

    def __init__(self, body: bytes) -> None:
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(body))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError):
            raise NotReadable("broken") from None
        entries = self._archive.infolist()
        if len(entries) > MAX_PARTS or sum(entry.file_size for entry in entries) > MAX_UNPACKED:
            raise NotReadable("large")
        if any(entry.flag_bits & _ENCRYPTED for entry in entries):
            raise NotReadable("locked")
        self._entries = {entry.filename: entry for entry in entries}
        self._left = MAX_READ

    @property
    def names(self) -> Mapping[str, object]:
        """Names of the parts in the order of the archive."""
        return self._entries

    def read(self, name: str) -> bytes:
        """Return a part. zipfile reads no more of it than is declared. Raise NotReadable."""
        entry = self._entries.get(name)
        if entry is None or entry.compress_type not in _METHODS:
            raise NotReadable("broken")
        is_bomb = entry.file_size > max(FREE_OF_RATIO, MAX_RATIO * entry.compress_size)
        if entry.file_size > min(MAX_PART, self._left) or is_bomb:
            raise NotReadable("large")
        self._left -= entry.file_size
        try:
            return self._archive.read(entry)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
            raise NotReadable("broken") from None

    def parse(self, name: str) -> Element:
        """Return the root of a part in XML. Raise NotReadable."""
        return parse_xml(self.read(name))

    def iterate(self, name: str, tag: str) -> Iterator[Element]:
        """Yield the elements of a part with this local name, each of them once, without those before it."""
        found = etree.iterparse(io.BytesIO(self.read(name)), events=("end",), tag=f"{{*}}{tag}", **_PARSER_OPTIONS)
        try:
            for _, element in found:
                _refuse_entities(element)
                yield element
                _forget(element)
        except etree.XMLSyntaxError:
            raise NotReadable("broken") from None

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """Return the type and the name of the parts that a part of an Office file relates to, by their ids.

        What lies outside of the file is left out."""
        folder, _, own = name.rpartition("/")
        place = f"{folder}/_rels/{own}.rels".lstrip("/")
        if place not in self._entries:
            return {}
        found = {}
        for relation in self.parse(place).iter("{*}Relationship"):
            if relation.get("TargetMode", "").lower() != "external":
                kind = relation.get("Type", "").rpartition("/")[2]
                found[relation.get("Id", "")] = (kind, join_name(folder, relation.get("Target", "")))
        return found


def join_name(folder: str, target: str) -> str:
    """Return the name of a part that another one, in this folder, refers to."""
    path = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")


def parse_xml(body: bytes) -> Element:
    """Return the root of an XML text without comments. Raise NotReadable, also if it declares entities."""
    parser = etree.XMLParser(remove_comments=True, remove_pis=True, **_PARSER_OPTIONS)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        raise NotReadable("broken") from None
    _refuse_entities(root)
    return root


def _refuse_entities(element: Element) -> None:
    declared = element.getroottree().docinfo.internalDTD
    if declared is not None and next(declared.iterentities(), None) is not None:  # nobody who writes a document does
        raise NotReadable("broken")


def _forget(element: Element) -> None:
    """Free an element and what stands before it in the tree."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]

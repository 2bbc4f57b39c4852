"""Reading of pages and files: an address or a file becomes a text, a day and passages that can be cited.

    reader = Reader.from_settings(settings)
page = reader.read("https://example.com/news", deadline=Deadline(reader.timeout))  # or raises ReadingError for passage
in select_passages(page, question, snippet=snippet, budget=1_200): ... page = reader.read_file("合同.docx", body)  # or
raises FileError

Everything that comes from outside is hostile: the address (download.py), the bytes (worker.py), the text (page.py).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

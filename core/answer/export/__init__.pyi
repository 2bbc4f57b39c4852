from .html_page import as_html
from .json_file import as_json
from .markdown_text import answer_as_markdown, as_markdown
from .word_file import as_word

__all__ = ["answer_as_markdown", "as_html", "as_json", "as_markdown", "as_word"]

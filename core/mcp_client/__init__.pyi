from .errors import McpError
from .servers import McpServers, OfferedTools, ServerState
from .tool_listing import ForeignTool, RefusedTool, ToolListing, wire_names
from .tool_results import FoundItem, ToolOutput
from .tool_schema import arguments_from_text, find_problem, fit_arguments, harmless_text

__all__ = [
    "ForeignTool",
    "FoundItem",
    "McpError",
    "McpServers",
    "OfferedTools",
    "RefusedTool",
    "ServerState",
    "ToolListing",
    "ToolOutput",
    "arguments_from_text",
    "find_problem",
    "fit_arguments",
    "harmless_text",
    "wire_names",
]

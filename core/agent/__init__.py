"""Agent mode: the model decides what to search for, and how often. Import `core.agent.runner` late: LangChain is slow."""

from core.answer.checked import *  # noqa: F403

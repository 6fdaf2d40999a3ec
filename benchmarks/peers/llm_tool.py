"""llm: a model's `chain` with Python functions as tools, streamed."""

import llm
from llm.default_plugins.openai_models import Chat

from .observed import KEY, QUESTION, TIMEOUT, Observed, functions


class Patient(Chat):
    """A Chat model that neither waits for ever nor asks again: it has no option for either."""

    def get_client(self, key, *, async_=False):
        return super().get_client(key, async_=async_).with_options(timeout=TIMEOUT, max_retries=0)


def observe(case: dict, url: str, seen: Observed) -> None:
    model = Patient("m", model_name="m", api_base=f"{url}/v1", supports_tools=True)
    tools = [llm.Tool.function(function) for function in functions(case, seen.ran)]
    for _ in model.chain(QUESTION, tools=tools, key=KEY, stream=True):
        pass

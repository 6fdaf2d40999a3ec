"""google-genai: `generate_content_stream` with Python functions as tools, which it runs by itself."""

from google import genai
from google.genai import types

from .observed import KEY, QUESTION, TIMEOUT, Observed, functions


def observe(case: dict, url: str, seen: Observed) -> None:
    options = types.HttpOptions(base_url=url, timeout=int(TIMEOUT * 1000))
    client = genai.Client(api_key=KEY, http_options=options, vertexai=False)
    config = types.GenerateContentConfig(tools=functions(case, seen.ran))
    for chunk in client.models.generate_content_stream(model="m", contents=QUESTION, config=config):
        for candidate in chunk.candidates or ():
            if candidate.finish_reason:
                seen.finish = candidate.finish_reason.value

"""The three HTTP APIs as a client sees them: path, where the key is found, and the shape of a request."""

import re

import httpx

from streamkit.lab.problem import Problem

PATHS = {"openai-chat": "/chat/completions", "openai-responses": "/responses", "anthropic-messages": "/messages"}
KEYS = {
    "openai-chat": "OPENAI_API_KEY",
    "openai-responses": "OPENAI_API_KEY",
    "anthropic-messages": "ANTHROPIC_API_KEY",
}


def endpoint(url: str, api: str) -> str:
    """The full address: a base such as https://host/v1 gets the path of the API behind it. Raises Problem."""
    shown = ascii(re.sub(r"//[^/?#]*@", "//", url.partition("?")[0]))  # the rest may hold a key
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise Problem(f"not an address: {shown} ({error})") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise Problem(f"expected an address such as https://host/v1, got {shown}")
    path = parsed.path.rstrip("/")
    if path.endswith(PATHS[api]):
        return url
    return str(parsed.copy_with(path=(path or "/v1") + PATHS[api]))


def guard(target: str, key: str | None) -> None:
    """Raise Problem where a key would travel in the clear to another machine."""
    url = httpx.URL(target)
    if key and url.scheme == "http" and url.host not in ("127.0.0.1", "localhost", "::1"):
        raise Problem(f"the key would go to {url.host!a} unencrypted; use https, or unset the environment variable")


def offered(api: str, body: dict) -> list[dict]:
    """The tools of a request body in one shape for all APIs: name, description, parameters (JSON Schema)."""
    tools = []
    for tool in body.get("tools") or []:
        inner = tool.get("function", tool) if api == "openai-chat" else tool
        schema = inner.get("input_schema") if api == "anthropic-messages" else inner.get("parameters")
        if inner.get("name") and schema is not None:  # a tool of the provider's own has no schema
            tools.append({"name": inner["name"], "description": inner.get("description", ""), "parameters": schema})
    return tools


def asked(api: str, model: str, prompt: str, tools: list[dict], limit: int) -> dict:
    """A request body with one user message. `tools`: name, description, parameters; `limit`: tokens."""
    message = {"role": "user", "content": prompt}
    if api == "openai-responses":
        body = {"input": [message], "max_output_tokens": limit}
        shaped = [{"type": "function", **tool, "strict": False} for tool in tools]
    elif api == "anthropic-messages":
        body = {"messages": [message], "max_tokens": limit}
        shaped = [
            {"name": tool["name"], "description": tool.get("description", ""), "input_schema": tool["parameters"]}
            for tool in tools
        ]
    else:
        body = {"messages": [message], "max_completion_tokens": limit}
        shaped = [{"type": "function", "function": tool} for tool in tools]
    return {"model": model, **body} | ({"tools": shaped} if tools else {})

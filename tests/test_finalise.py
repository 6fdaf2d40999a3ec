"""Finished text → Ready, Unfinished, Unparseable, Invalid."""

import pytest

from streamkit.finalise import COMPLAINTS, BadTool, Invalid, Ready, Tools, Unfinished, Unparseable, finalise

TOOLS = Tools(
    [
        {
            "name": "transfer",
            "parameters": {
                "type": "object",
                "properties": {"to": {"type": "string"}, "cents": {"type": "integer"}},
                "required": ["to", "cents"],
                "additionalProperties": False,
            },
        },
        {"name": "list_alerts"},
    ]
)
WHOLE = '{"to": "acct-1", "cents": 1200}'


def test_ready():
    assert finalise(WHOLE, "transfer", TOOLS) == Ready({"to": "acct-1", "cents": 1200})


@pytest.mark.parametrize("text", [WHOLE, WHOLE[:-1], "", "null"])
def test_nothing_is_ready_before_the_turn_is_complete(text):
    assert finalise(text, "transfer", TOOLS, complete=False) == Unfinished(text)


@pytest.mark.parametrize("text", ["", "null", "{}", " {} "])
def test_no_arguments_mean_an_empty_object(text):
    assert finalise(text, "list_alerts", TOOLS) == Ready({})


@pytest.mark.parametrize("text", [WHOLE[:i] for i in range(1, len(WHOLE))])
def test_a_prefix_is_never_more_than_unparseable(text):
    assert isinstance(finalise(text, "transfer", TOOLS), Unparseable)


def test_all_complaints_are_given_with_their_paths():
    final = finalise('{"cents": "1200", "note": 1}', "transfer", TOOLS)
    assert isinstance(final, Invalid) and final.answerable
    said = " ".join(final.complaints)
    assert len(final.complaints) == 3
    assert "$.cents" in said and "'to' is a required property" in said and "note" in said


@pytest.mark.parametrize(
    ("text", "name", "answerable"),
    [
        ("{}", "nosuch", True),
        ("[1]", "transfer", False),
        ('"{}"', "transfer", False),
        ("{}", "", False),
        ("12", "", False),
    ],
)
def test_invalid_and_whether_it_can_be_answered(text, name, answerable):
    final = finalise(text, name, TOOLS)
    assert isinstance(final, Invalid) and final.answerable is answerable


def test_without_offered_tools_only_the_object_rule_judges():
    assert finalise("{}", "anything") == Ready({})
    assert isinstance(finalise("{}", "anything", Tools([])), Invalid)


def test_a_complaint_is_short_however_long_the_argument():
    final = finalise('{"to": 1, "cents": "' + "9" * 10_000 + '"}', "transfer", TOOLS)
    assert max(map(len, final.complaints)) < 400


@pytest.mark.parametrize(
    "tool",
    [
        {},
        {"name": ""},
        {"name": "x", "parameters": {"type": "objekt"}},
        {"name": "x", "parameters": {"$schema": 3}},
        {"name": "x", "parameters": {"$schema": ["x"]}},
    ],
)
def test_a_bad_tool_is_refused_by_name(tool):
    with pytest.raises(BadTool, match="was expected"):
        Tools([tool])


def test_a_list_of_wrong_items_is_complained_of_a_hundred_times():
    tools = Tools([{"name": "x", "parameters": {"properties": {"a": {"items": {"type": "integer"}}}}}])
    final = finalise('{"a": [' + ",".join(['""'] * 20_000) + "]}", "x", tools)
    assert len(final.complaints) == COMPLAINTS and final.complaints[0].startswith("$.a[0]: ")


def test_no_reference_is_fetched():
    tools = Tools(
        [{"name": "x", "parameters": {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/s"}}}}]
    )
    final = finalise('{"a": 1}', "x", tools)
    assert final.complaints == ("$: the tool's schema cannot judge these arguments (WrappedReferencingError)",)


ROUND = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"properties": {"cents": {"multipleOf": 0.01}}}, '{"cents": 1' + "0" * 400 + "}"),
        ({"$ref": "#/$defs/nowhere"}, "{}"),
        ({"$ref": "#"}, "{}"),
        (ROUND, "{}"),
    ],
    ids=["an integer past double range", "nowhere", "itself", "round and round"],
)
def test_what_a_schema_cannot_judge_is_refused_and_raises_nothing(schema, text):
    final = finalise(text, "pay", Tools([{"name": "pay", "parameters": schema}]))
    assert final.outcome == "invalid" and "cannot judge" in final.complaints[0]
    assert (
        finalise('{"cents": 1}', "pay", Tools([{"name": "pay", "parameters": {"properties": {}}}])).outcome == "ready"
    )

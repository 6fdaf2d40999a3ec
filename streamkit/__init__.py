"""streamkit: streamed tool calls, from bytes to effects. A partially received call is not a call."""

"""The words everyone shares: messages, events, tools, models, usage, errors."""

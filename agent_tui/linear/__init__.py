"""The chat as plain lines: for screen readers, `script`, and terminals that cannot show a screen.

It prints what happens as whole lines without any escape sequence, and reads lines: a message, or
a command. The same session is behind it as behind the screen.
"""

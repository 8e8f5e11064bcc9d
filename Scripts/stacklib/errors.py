"""The one error that the command line turns into a message and exit status 1."""


class StackError(Exception):
    """Something a person can act on; the text is the whole message."""

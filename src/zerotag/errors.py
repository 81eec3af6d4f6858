"""The one exception that is meant for people: its message is a single line that says what to do."""


class ZerotagError(Exception):
    """Something the user can mend. The command line prints the message and exits with code 2."""

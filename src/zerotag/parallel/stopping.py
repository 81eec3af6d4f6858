"""How work that another process has begun is told to stop."""


class Stopped(BaseException):
    """Whatever is being done is to be left where it is; it goes on the next time. No error, so none to handle."""

import zerotag


def test_what_it_has_can_be_listed_before_it_is_loaded() -> None:
    assert set(zerotag.__all__) <= set(dir(zerotag))
    assert {"train", "load", "read", "WordLabeller"} <= set(dir(zerotag))
    assert all(getattr(zerotag, name) is not None for name in zerotag.__all__)

from zerotag.text.printable import one_line


def test_control_characters_become_visible() -> None:
    assert one_line("a\tb\r\nc\x1b[31m\x9b\u2028\x7f\ud800é") == "a␉b␍␊c␛[31m�␤␡�é"

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerotag.research.corpora.penn import tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Rain may fall.", "Rain may fall ."),
        ("a (small) [red] {box}; 5% off", "a ( small ) [ red ] { box } ; 5 % off"),
        ("p<0.05 and q>3", "p < 0.05 and q > 3"),
        ("apples, pears: 1,000 at 12:30", "apples , pears : 1,000 at 12:30"),
        ("x::y", "x : :y"),
        ("wait... no--yes", "wait ... no -- yes"),
        ('he said "yes" ("no")', "he said `` yes '' ( `` no '' )"),
        ('He "may". She "may not."', "He `` may '' . She `` may not . ''"),
        ('Is it so?". No', "Is it so ? `` . No"),
        ('They ask "why?" again', "They ask `` why ? '' again"),
        ("the dog's bone, the dogs' bones", "the dog 's bone , the dogs ' bones"),
        ("5'-ends and (3') ends", "5'-ends and ( 3 ' ) ends"),
        ("I don't; it cannot, no", "I do n't ; it can not , no"),
        ("Figure 2A''' here", "Figure 2A '' ' here"),
        ("“curly” quotes – and dashes", "“curly” quotes – and dashes"),
        ("", ""),
        (" \n\t ", ""),
    ],
)
def test_signs_and_clitics(text: str, tokens: str) -> None:
    assert list(tokenize(text)) == tokens.split()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("See v1.2 of the map.", "See v1.2 of the map ."),
        ("It rained. Then it froze.", "It rained . Then it froze ."),
        ("Done (it rained.)", "Done ( it rained . )"),
        ("Hail, etc., fell", "Hail , etc. , fell"),
        ("etc. and so on", "etc . and so on"),
        ("Dr. Frost vs. Dr. Thaw", "Dr. Frost vs. Dr. Thaw"),
        ("by K. Frost and A. Thaw", "by K. Frost and A. Thaw"),
        ("anti-E. coli", "anti-E. coli"),
        ("by A. (2001)", "by A . ( 2001 )"),
        ("by K. (2001)", "by K. ( 2001 )"),
        ("by K.A. Frost", "by K.A . Frost"),
        ("the fly D. hydei.) and", "the fly D . hydei . ) and"),
        ("1. to melt", "1. to melt"),
        ("1. To melt", "1 . To melt"),
        ("e.g.: hail", "e.g . : hail"),
    ],
)
def test_full_stops(text: str, tokens: str) -> None:
    assert list(tokenize(text)) == tokens.split()


@given(st.text(alphabet="aB1 .,:;?!'\"()[]-–`&é", max_size=40))
def test_nothing_but_spaces_is_lost_and_only_quotes_change(text: str) -> None:
    joined = "".join(tokenize(text))
    assert joined.replace("`", "'") == "".join(text.split()).replace('"', "''").replace("`", "'")

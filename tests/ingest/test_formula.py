"""Formulas to one readable line."""

from __future__ import annotations

import pytest

from citewell.ingest.office.formula import format_mathml, format_omml
from citewell.ingest.office.package import parse_xml

R = "<r><t>{}</t></r>".format


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (f"<f><num>{R('x-c')}</num><den>{R('v')}</den></f>", "(x-c)/v"),
        (
            f"<sSup><e><f><num>{R('a')}</num><den>{R('b')}</den></f></e><sup>{R('2')}</sup></sSup>",
            "(a/b)²",
        ),
        (f"<sSubSup><e>{R('x')}</e><sub>{R('i')}</sub><sup>{R('n')}</sup></sSubSup>", "x_iⁿ"),
        (f"<rad><radPr/><deg>{R('3')}</deg><e>{R('x+1')}</e></rad>", "³√(x+1)"),
        (
            (
                "<nary><naryPr><chr "
                f'val="∑"/></naryPr><sub>{R("i=1")}</sub><sup>{R("n")}</sup><e>{R("i")}</e></nary'
                ">"
            ),
            "∑_(i=1)^n i",
        ),
        (
            f'<d><dPr><begChr val="["/><endChr val="]"/></dPr><e>{R("a")}</e><e>{R("b")}</e></d>',
            "[a|b]",
        ),
        (
            (
                f"<m><mr><e>{R('1')}</e><e>{R('0')}</e></mr><mr><e>{R('0')}</e><e>{R('1')}</e></m"
                "r></m>"
            ),
            "[1, 0; 0, 1]",
        ),
        (f"<func><fName>{R('sin')}</fName><e>{R('x')}</e></func>", "sin x"),
        (f"<sPre><sub>{R('6')}</sub><sup>{R('14')}</sup><e>{R('C')}</e></sPre>", "₆¹⁴C"),
        (f"<unknown>{R('kept')}</unknown>", "kept"),
    ],
)
def test_word_formulas(source: str, text: str) -> None:
    """Fractions, powers, roots, sums and matrices keep every sign, bracketed where the line would
    say something else.
    """
    assert format_omml(parse_xml(f"<oMath>{source}</oMath>".encode())) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<mfrac><mn>1</mn><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow></mfrac>", "1/(a+b)"),
        ("<msqrt><mi>x</mi></msqrt><mroot><mi>y</mi><mn>3</mn></mroot>", "√x³√y"),
        ("<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>", "x₁²"),
        ("<semantics><mrow><mi>E</mi></mrow><annotation>latex</annotation></semantics>", "E"),
    ],
)
def test_mathml(source: str, text: str) -> None:
    """The same for the formulas of OpenDocument and of web pages; annotations are left out."""
    assert format_mathml(parse_xml(f"<math>{source}</math>".encode())) == text

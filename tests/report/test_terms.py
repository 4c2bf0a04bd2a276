"""Every term that the page uses is explained in one line, and none that it does not use."""

from lvq.report.terms import terms


def test_terms_are_short_and_used(cases, html):
    for name, case in cases.items():
        found = dict(terms(case.summary))
        assert all(len(line) <= 110 and line.endswith(".") for line in found.values())
        assert ("Guarantee" in found) == (name == "wdbc")
        assert ("Fold" in found) == (case.summary["folds"] is not None)
        assert ("Lambda" in found) == bool(case.summary["relevance"] and case.summary["relevance"]["matrices"])
        page = html[name].partition('<section id="about"')[0].lower()
        for term in found:
            word = term.lower().partition(",")[0].removesuffix(" samples")
            assert word in page, (name, term)

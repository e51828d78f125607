"""Publications: labels, links and BibTeX entries."""

from boundcheck.theory.paper import Paper
from boundcheck.theory.statement import Source

FULL = Paper(
    "A Title of Note",
    ("José María Pérez", "Ann Other", "C D"),
    2021,
    "J. of Notes 3",
    "article",
    "10.1/x",
    "2101.00001",
)


def test_a_paper_is_named_by_its_title_and_first_author() -> None:
    assert str(FULL) == "A Title of Note (J. Pérez et al.)"
    assert str(Paper("T", ("Ann Other", "Boris Third"))) == "T (A. Other, B. Third)"
    assert str(Paper("T")) == "T"


def test_links_prefer_the_doi() -> None:
    assert FULL.link == "https://doi.org/10.1/x"
    assert Paper("T", arxiv="2101.00001").link == "https://arxiv.org/abs/2101.00001"
    assert Paper("T").link == ""


def test_bibtex() -> None:
    entry = FULL.bibtex("Theorem 1")
    assert entry.splitlines() == [
        "@article{perez2021title,",
        "  title = {{A Title of Note}},",
        "  author = {José María Pérez and Ann Other and C D},",
        "  journal = {J. of Notes 3},",
        "  year = {2021},",
        "  doi = {10.1/x},",
        "  eprint = {2101.00001},",
        "  archiveprefix = {arXiv},",
        "  note = {Theorem 1}",
        "}",
    ]
    assert Paper("T").bibtex() == "@misc{paper,\n  title = {{T}}\n}"


def test_a_source_takes_text_as_a_title() -> None:
    source = Source("My notes", "Lemma 1", "page 3")
    assert source.paper == Paper("My notes")
    assert source == Source(Paper("My notes"), "Lemma 1", "page 3")

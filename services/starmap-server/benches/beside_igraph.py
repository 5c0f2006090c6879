"""Asks the star map and python's igraph the same questions in one run, and prints both times.

    pip install igraph
    python services/starmap-server/benches/beside_igraph.py MAP

Where igraph has the question, its answers must be the same, or the script fails. Both are timed by the question, the shortest
of three times, without the time it takes to build a graph. Questions that igraph has not, it does not answer here either.
"""

import json
import math
import subprocess
import sys
import time

import igraph


def weight(mode, start, end):
    """What a jump costs, by the unrounded security at both of its ends."""
    high, low = end >= 0.45, 0 < end < 0.45
    dear = math.exp(7.5)
    if mode == "safe":
        return 1 if high else (50 if start >= 0.45 else 10) if low else 100
    if mode == "unsafe":
        return 10 if high else 2 if low else 1
    if mode == "safer":
        return 0.9 if high else dear if low else 2 * dear
    if mode == "less secure":
        return 0.9 if low else dear if high else 2 * dear
    return 1


def main():
    [path] = sys.argv[1:]
    command = ["cargo", "run", "--release", "--quiet", "-p", "starmap-server", "--example", "query_times", "--", "--json", path]
    data = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    security, gates = data["security"], data["gates"]
    directed = igraph.Graph(n=len(security), edges=gates, directed=True)
    undirected = igraph.Graph(n=len(security), edges=[gate for gate in gates if gate[0] < gate[1]])
    lower = [any(security[to] < 0.45 for to in undirected.neighbors(at)) for at in range(len(security))]
    border = [security[at] >= 0.45 and lower[at] for at in range(len(security))]

    def asked(kind):
        if kind[0] == "route":
            weights = None
            if kind[1] != "shortest":
                weights = [weight(kind[1], security[start], security[end]) for start, end in gates]

            def route(question):
                return directed.get_shortest_path(question[0], question[1], weights=weights, output="epath")

            def cost(path):
                return len(path) if weights is None else sum(weights[edge] for edge in path)

            return route, cost
        if kind[0] == "within":
            return lambda at: undirected.neighborhood(at, order=kind[1]), len
        if kind[0] == "borders":
            return lambda at: [it for it in undirected.neighborhood(at, order=kind[1]) if border[it]], len
        if kind[0] == "cuts":

            def cuts(area):
                graph = undirected.induced_subgraph(area)
                return graph.articulation_points(), graph.bridges()

            return cuts, lambda found: [len(found[0]), len(found[1])]
        return lambda systems: undirected.distances(systems, systems), lambda rows: sum(map(sum, rows))

    print(f"python-igraph {igraph.__version__}; times in microseconds\n")
    print("| question | p50 | p99 | longest | igraph p50 | igraph p99 | ratio p50 | ratio p99 |")
    print("|---|---|---|---|---|---|---|---|")
    for row in data["rows"]:
        own = row["percentiles"]
        cells = [row["name"], *(f"{it:.0f}" for it in own)]
        if row["kind"] is None:
            print("| " + " | ".join([*cells, "–", "–", "–", "–"]) + " |")
            continue
        ask, judge = asked(row["kind"])
        micros = []
        for question, answer in zip(row["questions"], row["answers"], strict=True):
            took = []
            for _ in range(3):
                begin = time.perf_counter()
                found = ask(question)
                took.append((time.perf_counter() - begin) * 1e6)
            micros.append(min(took))
            found = judge(found)
            same = found == answer if isinstance(answer, list) else math.isclose(found, answer, abs_tol=1e-3)
            if not same:
                sys.exit(f"{row['name']}: {question}: igraph says {found}, the star map {answer}")
        micros.sort()
        p50, p99 = (micros[(len(micros) - 1) * percent // 100] for percent in (50, 99))
        ratios = [f"{p50 / own[0]:.1f}", f"{p99 / own[1]:.1f}"]
        print("| " + " | ".join([*cells, f"{p50:.0f}", f"{p99:.0f}", *ratios]) + " |")


if __name__ == "__main__":
    main()

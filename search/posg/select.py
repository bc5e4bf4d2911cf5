"""How a simulation chooses among the ego's actions, and how the search decides in the end."""

import math
from collections.abc import Sequence

from search.posg.tree import EgoEdge, EgoNode, Span


def by_ucb(node: EgoNode, span: Span, constant: float) -> EgoEdge:
    """Returns an untried action, in their order, else that of the largest `Q + constant * sqrt(ln N / n)`.

    Q is scaled to [0, 1] by the span; only differences between actions matter, so the constant is scaled instead.
    """
    edges, legal = node.edges, node.legal
    assert legal is not None, "a node is open before actions are chosen there"
    if len(edges) < len(legal):
        edge = EgoEdge(legal[len(edges)])
        edges.append(edge)
        return edge
    if node.visits < len(legal):  # a search one level above was here first, and made them all
        untried = next((edge for edge in edges if not edge.visits), None)
        if untried is not None:
            return untried
    scale = constant * span.width * math.sqrt(math.log(node.visits or 1))
    scores = [edge.mean + scale * edge.spread for edge in edges]
    return edges[scores.index(max(scores))]


def by_pucb(node: EgoNode, span: Span, constant: float, mix: float) -> EgoEdge:
    """Returns the action of the largest `Q + constant * P * sqrt(N) / (1 + n)`, where Q of an untried one is 0.

    Source: Rosin, "Multi-armed bandits with episode context" (2011), in the form of Silver et al. (2017). P is the mean
    of the probabilities that policies of the ego gave at this node, with a share `mix` of the uniform ones.
    """
    edges, leaning = node.edges, node.leaning
    low, width = span.low, span.width
    root = constant * math.sqrt(node.visits)
    share = root * (1.0 - mix) / max(1.0, math.fsum(leaning))
    even = root * mix / len(edges)
    best, most = edges[0], -math.inf
    for edge, led in zip(edges, leaning, strict=True):
        visits = edge.visits
        score = (share * led + even) / (1 + visits)
        if visits:
            score += (edge.mean - low) / width
        if score > most:
            best, most = edge, score
    return best


def best_valued(edges: Sequence[EgoEdge]) -> EgoEdge:
    """Returns the edge of the largest mean among those that were tried; the first of equal ones."""
    return max(edges, key=lambda edge: edge.mean if edge.visits else -math.inf)


def most_tried(edges: Sequence[EgoEdge]) -> EgoEdge:
    """Returns the edge with the most visits; of equal ones that of the larger mean, then the first."""
    return max(edges, key=lambda edge: (edge.visits, edge.mean))

"""Random sources: distributions in whole shares, with and without a common order."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from budget_opt.mechanisms.hamming import Source


@st.composite
def distributions(draw: st.DrawFn, cardinality: int) -> tuple[Fraction, ...]:
    counts = draw(st.lists(st.integers(0, 20), min_size=cardinality, max_size=cardinality).filter(any))
    return tuple(Fraction(count, sum(counts)) for count in counts)


@st.composite
def sources(draw: st.DrawFn, least: int = 2, most: int = 5) -> Source:
    cardinality = draw(st.integers(least, most))
    return Source.of(draw(st.lists(distributions(cardinality), min_size=1, max_size=5)))


@st.composite
def ordered_sources(draw: st.DrawFn, least: int = 2, most: int = 5) -> Source:
    """Distributions that all have one order, any order."""
    source = draw(sources(least, most))
    order = draw(st.permutations(range(source.cardinality)))
    return Source.of([[sorted(shares, reverse=True)[place] for place in order] for shares in source.vertices])

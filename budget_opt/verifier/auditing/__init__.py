"""The audit of a sampler as a black box: made-up records go in, and the reports are judged.

What is tested is the hypothesis that the sampler is sound: every cell is randomized by itself, with noise of
its own, by some matrix whose largest likelihood ratio is at most exp(epsilon of its attribute), the same for
equal records wherever they stand. Attributes that the allocation randomizes together are one such attribute
here, with their joint categories. So a report depends on its own truth alone: not on other values of its
record, and not at all on other records, of its call or of an earlier one. And nothing comes back but the
declared columns: no other column, no index of the rows, no metadata. All tests share the stated error by
Bonferroni, and each is exact or bounded under the hypothesis: a sound sampler fails an audit with at most
that probability, whatever its matrices are. What is chosen by looking (a pair of categories, a set of
reports) is tested on other records. One audit is one look: a second audit has an error of its own, and an
audit repeated until it passes says nothing.

An audit that finds nothing has shown nothing but the absence of violations that its records can show.
"""

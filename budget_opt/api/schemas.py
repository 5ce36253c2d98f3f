"""JSON Schemas of the file formats."""

from __future__ import annotations

from typing import Any


def schema_of(document: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of `problem`, `allocation` or `manifest` files (DESIGN 3).

    Of a `certificate` and a `design-certificate` it is that of the JSON member.
    """
    if document == "problem":
        from budget_opt.model.schema import problem_schema

        return problem_schema()
    if document == "allocation":
        from budget_opt.allocation.schema import allocation_schema

        return allocation_schema()
    if document == "certificate":
        from budget_opt.certificate.document import certificate_schema

        return certificate_schema()
    if document == "design-certificate":
        from budget_opt.certificate.partitions.document import design_certificate_schema

        return design_certificate_schema()
    from budget_opt.randomizer.manifest import manifest_schema

    return manifest_schema()

"""Why no split meets all wishes, and what would do: every answer is a proof or an exactly checked split."""

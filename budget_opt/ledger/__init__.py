"""What has been spent on a data set: an append-only, hash-chained record that several processes share.

`ledger.Ledger` is what others use; `caps` and `charge` are what goes in. The state is never stored: it is
what replaying all events says (`state`), and `file` is the one place that knows SQLite.
"""

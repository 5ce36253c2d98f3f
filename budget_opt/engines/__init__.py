"""Releases on many machines, cell for cell those of one.

For Spark there is `budget_opt.engines.spark.randomize`; its workers run the `python3` of the PATH unless
PYSPARK_PYTHON, set before the session begins, names one that has budget_opt. Other engines need no more
than a `bo.BatchRandomizer`: it takes a record batch wherever that lies, and the report of a cell depends on
the release's key, the row's id and the cell alone. Three things are then left to see to: that no two rows
share an id; that no person has more rows than the problem's unit allows, where it is a person; and that
rows whose order is not public are sorted by the keys that `with_order_keys` adds, which are dropped
afterwards. In what follows `allocation` is the `Allocation` and `release` the `KeyedRelease` of the table
in the folder survey, whose rows are named by the column id, listed under dropped. Workers get keys that are
derived from the release's: who has one of them and the release can undo it, so the network and the disks of
these machines must be as safe as the originals. The members of a cluster of attributes are in one batch, as
columns of one row, and are randomized together there.

Dask, in processes, threads or on many machines:

    import dask.dataframe
    import pandas
    import pyarrow
    import pyarrow.dataset
    import budget_opt as bo

    # Arrow's types throughout: in pandas' own an integer with a gap becomes a double
    table = dask.dataframe.read_parquet("survey", dtype_backend="pyarrow")
    schema = pyarrow.dataset.dataset("survey").schema.remove_metadata()
    randomizer = bo.BatchRandomizer(schema, allocation, release, row_id="id")
    if table["id"].nunique().compute() < len(table):
        raise ValueError("two rows share an id: equal cells of theirs would get equal reports")

    def randomized(part: pandas.DataFrame) -> pandas.DataFrame:
        batch = pyarrow.RecordBatch.from_pandas(part, schema=schema, preserve_index=False)
        return randomizer.with_order_keys(batch).to_pandas(types_mapper=pandas.ArrowDtype)

    nothing = schema.empty_table().to_pandas(types_mapper=pandas.ArrowDtype)
    rows = table.map_partitions(randomized, meta=randomized(nothing))
    keys = list(randomizer.order_columns)
    # a sorted row has the index of its original until that is dropped
    released = rows.sort_values(keys).drop(columns=keys).reset_index(drop=True)
    released.to_parquet("public", write_index=False)

Ray, with `randomizer` and the check of the ids as above:

    import ray

    def randomized(table: pyarrow.Table) -> pyarrow.Table:
        batches = [randomizer.with_order_keys(batch) for batch in table.to_batches()]
        return pyarrow.Table.from_batches(batches, randomizer.order_schema)

    rows = ray.data.read_parquet("survey").map_batches(randomized, batch_format="pyarrow")
    keys = list(randomizer.order_columns)
    rows.sort(keys).drop_columns(keys).write_parquet("public")

A data set of a ledger pays before the first batch is randomized, under a name that stands for this release in
every retry; what is charged so counts as spent even where the job never ends:

    payer = bo.Payer("survey", bo.Ledger.open("ledger.db"))
    payer.reserve(allocation, "survey, release 1")
    ...
    payer.confirm(allocation, "survey, release 1", "public")

Every evaluation gives the same reports as long as the originals stand still. An error of a worker has no cell
value in it; what the engine itself says of a fault in the originals may.
"""

"""Tables: data frames and files (CSV, also gzipped, Parquet and Excel), read whole or in parts, and written.

`lvq.tables.header` needs neither pandas nor pyarrow.
"""

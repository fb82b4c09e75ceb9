"""From files to data objects: cells, tables, and the layouts that tables have."""

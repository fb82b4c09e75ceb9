"""From files to data objects: cells, tables, and the shapes that tables have."""

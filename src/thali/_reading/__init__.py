"""Reading of files into data objects: text cells, tables, recognition of their layout."""

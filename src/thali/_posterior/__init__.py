"""What every fit leaves behind: the tree in the ArviZ schema, its file, its summary."""

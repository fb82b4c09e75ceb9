"""Jobs of many parts as they were at an earlier moment."""

from thali.inference import jobs


def keep_parts(job, segments):
    """Leave the first so many files of records, as if the process had been killed then; each holds one record."""
    index = jobs.read_index(job)
    index["segments"], index["ended"] = index["segments"][:segments], False
    (job / jobs.INDEX).write_bytes(jobs.sealed(index))

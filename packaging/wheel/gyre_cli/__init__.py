"""The command `gyre`: serves files, passes HTTP requests on, fetches URLs, measures servers. It is one static program,
and needs no Python to run."""

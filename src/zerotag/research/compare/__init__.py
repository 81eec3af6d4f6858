"""Methods × corpora × seeds from one TOML: runs, their summary, tests, tables and the page of results."""
